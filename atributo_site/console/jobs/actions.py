"""What runs a job again, ends it or makes it go away: a page that asks, then the deed.

The buttons of a job's page that do what they say at once.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.console.jobs.detail import job_or_404
from atributo_site.core.errors import AtributoError
from queues.jobs import actions
from queues.models import QueuedJob

CONFLICT = 409


class JobAction(Screen):
    actions = {"POST": "job.operate"}

    def post(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = job_or_404(job_id)
        try:
            self.do(job)
        except AtributoError as error:
            if error.status_code != CONFLICT:
                raise
            messages.warning(request, f"{error}.")  # the page of the job shows what came first
        return redirect(self.back(job))

    def do(self, job: QueuedJob) -> None:
        raise NotImplementedError

    def back(self, job: QueuedJob) -> str:
        """Where the button was pressed."""
        given = self.request.POST if self.request.method == "POST" else self.request.GET
        from_schedules = given.get("next") == "schedules"
        return reverse("schedules") if from_schedules else job.get_absolute_url()

    def tell(self, job: QueuedJob, done: bool, said: str, otherwise: str) -> None:
        """The sentences begin with the job, which leads to its page."""
        tell = messages.success if done else messages.warning
        name = format_html('<a href="{}">{} {}</a>', job.get_absolute_url(), job.script, job.pk)
        tell(self.request, format_html(said if done else otherwise, name))

    def reason(self) -> str:
        return reason_of(self.request)


class RunNow(JobAction):
    def do(self, job: QueuedJob) -> None:
        done = actions.run_now(job.pk)
        self.tell(job, done, "{} is due now.", "{} does not wait.")


class Pause(JobAction):
    def do(self, job: QueuedJob) -> None:
        done = actions.pause(job.pk, reason=self.reason())
        paused = "{} is paused: nothing of it starts any more."
        self.tell(job, done, paused, "{} was paused already.")


class Resume(JobAction):
    def do(self, job: QueuedJob) -> None:
        done = actions.resume(job.pk)
        self.tell(job, done, "{} goes on, in the rhythm that it had.", "{} was not paused.")


ENDED = ("complete", "failed")


class ConfirmedJobAction(JobAction):
    """A page that says what will happen, then the deed."""

    actions = {"GET": "job.operate", "POST": "job.operate"}
    template_name = "console/jobs/confirm.html"
    gone_to = "jobs"
    verb = ""
    too_late = ""

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = job_or_404(job_id)
        if not self.is_possible(job):
            self.tell(job, False, "", self.too_late)
            return redirect(self.back(job))
        shown = {**self.question(job), **self.equivalents(job)}
        self.title = shown["heading"]
        return self.show(job=job, back=self.back(job), next=request.GET.get("next"), **shown)

    def is_possible(self, job: QueuedJob) -> bool:
        return True

    def question(self, job: QueuedJob) -> dict[str, Any]:
        """The heading, what happens, and the words of both buttons."""
        raise NotImplementedError

    def equivalents(self, job: QueuedJob) -> dict[str, str]:
        return {
            "command": f"manage.py queued_jobs {self.verb} {job.pk}",
            "rest": curl(f"/api/v1/jobs/{job.pk}/{self.verb}", "POST"),
        }


class Retry(ConfirmedJobAction):
    """What failed is retried at once; what is complete asks, since it does everything twice."""

    verb = "retry"
    too_late = "{} has not ended yet."

    def is_possible(self, job: QueuedJob) -> bool:
        return job.status in ENDED

    def question(self, job: QueuedJob) -> dict[str, Any]:
        return {
            "heading": f"Run {job.script} again",
            "lead": f"The job is {job.status}. It runs again with the same data,"
            " and what it does is done once more.",
            "button": "Run it again",
            "leave": "Leave it",
        }

    def do(self, job: QueuedJob) -> None:
        actions.reset(job.pk)
        self.tell(job, True, "{} waits to run again.", "")


class Abort(ConfirmedJobAction):
    """What repeats asks, since none of its runs is left."""

    verb = "abort"
    too_late = "{} had ended already."

    def is_possible(self, job: QueuedJob) -> bool:
        return job.status not in ENDED

    def question(self, job: QueuedJob) -> dict[str, Any]:
        word = "End" if job.repeat_times else "Abort"
        rest = " No further run follows; «Retry» on its page begins anew."
        return {
            "heading": f"{word} {job.script}",
            "lead": "It ends as aborted, without callback; what runs is stopped."
            f"{rest if job.repeat_times else ''}",
            "button": f"{word} it",
            "leave": "Let it go on",
            "takes_reason": True,
            "is_danger": True,
        }

    def do(self, job: QueuedJob) -> None:
        done = actions.abort(job.pk, reason=self.reason())
        self.tell(job, done, "{} is aborted.", self.too_late)


class Delete(ConfirmedJobAction):
    verb = "delete"

    def question(self, job: QueuedJob) -> dict[str, Any]:
        return {
            "heading": f"Delete job {job.pk}",
            "lead": "Its attempts and log lines go with it; this cannot be undone.",
            "button": "Delete the job",
            "leave": "Keep it",
            "is_danger": True,
        }

    def do(self, job: QueuedJob) -> None:
        actions.delete(job.pk)
        messages.success(self.request, f"Job {job.pk} is deleted.")

    def back(self, job: QueuedJob) -> str:
        return reverse("jobs") if self.request.method == "POST" else super().back(job)

    def equivalents(self, job: QueuedJob) -> dict[str, str]:
        return {**super().equivalents(job), "rest": curl(f"/api/v1/jobs/{job.pk}", "DELETE")}
