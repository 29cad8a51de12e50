"""What runs a job again, ends it or makes it go away: a page that asks, then the deed."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from atributo_site.console.job import found
from atributo_site.console.job_deeds import Deed
from atributo_site.console.terminal import curl
from queues import steering
from queues.models import QueuedJob

ENDED = ("complete", "failed")


class Asking(Deed):
    """A page that says what will happen, then the deed."""

    actions = {"GET": "job.operate", "POST": "job.operate"}
    template_name = "console/job_ask.html"
    gone_to = "jobs"
    verb = ""
    too_late = ""

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
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


class Retry(Asking):
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
        steering.reset(job.pk)
        self.tell(job, True, "{} waits to run again.", "")


class Abort(Asking):
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
        done = steering.abort(job.pk, reason=self.reason())
        self.tell(job, done, "{} is aborted.", self.too_late)


class Delete(Asking):
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
        steering.delete(job.pk)
        messages.success(self.request, f"Job {job.pk} is deleted.")

    def back(self, job: QueuedJob) -> str:
        return reverse("jobs") if self.request.method == "POST" else super().back(job)

    def equivalents(self, job: QueuedJob) -> dict[str, str]:
        return {**super().equivalents(job), "rest": curl(f"/api/v1/jobs/{job.pk}", "DELETE")}
