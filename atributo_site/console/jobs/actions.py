"""Run a job again, pause it, end it or delete it, from its own page or the list of schedules."""

from typing import Any

from django.urls import reverse
from django.utils.html import format_html

from atributo_site.console.base.actions import Action, Confirmation, NothingChanged
from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.terminal import curl
from atributo_site.console.jobs.detail import job_or_404
from atributo_site.core.errors import AtributoError
from queues.jobs import actions
from queues.models import QueuedJob

CONFLICT = 409
ENDED = ("complete", "failed")


class JobAction(Action):
    actions = {"POST": "job.operate"}
    job: QueuedJob

    def load(self, job_id: str) -> None:
        self.job = job_or_404(job_id)

    def act(self) -> str:
        try:
            return self.change(self.job)
        except AtributoError as error:
            if error.status_code != CONFLICT or isinstance(error, NothingChanged):
                raise
            raise NothingChanged(f"{error}.") from error  # the job's page shows what came first

    def change(self, job: QueuedJob) -> str:
        raise NotImplementedError

    def back(self) -> str:
        from_schedules = self.given("next") == "schedules"
        return reverse("atributo:schedules") if from_schedules else self.job.get_absolute_url()

    def given(self, name: str) -> str | None:
        given = self.request.POST if self.request.method == "POST" else self.request.GET
        return given.get(name)

    def sentence(self, changed: bool, done: str, otherwise: str) -> str:
        """Put a link to the job into the sentence that says what was done."""
        job = self.job
        name = format_html('<a href="{}">{} {}</a>', job.get_absolute_url(), job.script, job.pk)
        if not changed:
            raise NothingChanged(format_html(otherwise, name))
        return format_html(done, name)

    def reason(self) -> str:
        return reason_of(self.request)


class RunNow(JobAction):
    def change(self, job: QueuedJob) -> str:
        return self.sentence(actions.run_now(job.pk), "{} is due now.", "{} is not waiting.")


class Pause(JobAction):
    def change(self, job: QueuedJob) -> str:
        changed = actions.pause(job.pk, reason=self.reason())
        paused = "{} is paused. It does not start until you resume it."
        return self.sentence(changed, paused, "{} was already paused.")


class Resume(JobAction):
    def change(self, job: QueuedJob) -> str:
        resumed = "{} is resumed, with the same interval."
        return self.sentence(actions.resume(job.pk), resumed, "{} was not paused.")


class JobConfirmation(Confirmation, JobAction):
    actions = {"GET": "job.operate", "POST": "job.operate"}
    gone_to = "atributo:jobs"
    verb = ""
    too_late = ""

    def question(self) -> dict[str, Any]:
        job = self.job
        if not self.is_possible(job):
            self.gone_to = self.back()
            self.sentence(False, "", self.too_late)
        words = self.words(job)
        place = f"{job.mount}/{job.script} in {job.queue.name}."
        return {
            "crumbs": [("Jobs", reverse("atributo:jobs")), (str(job.pk), job.get_absolute_url())],
            "next": self.given("next"),
            "command": f"manage.py queued_jobs {self.verb} {job.pk}",
            "rest": curl(f"/api/v1/jobs/{job.pk}/{self.verb}", "POST"),
            **words,
            "lead": f"{place} {words['lead']}",
        }

    def is_possible(self, job: QueuedJob) -> bool:
        return True

    def words(self, job: QueuedJob) -> dict[str, Any]:
        """Return the heading, what happens, and the words of both buttons."""
        raise NotImplementedError


class Retry(JobConfirmation):
    """The page retries failed jobs at once; complete ones ask, since they do everything twice."""

    verb = "retry"
    too_late = "{} has not finished yet."

    def is_possible(self, job: QueuedJob) -> bool:
        return job.status in ENDED

    def words(self, job: QueuedJob) -> dict[str, Any]:
        return {
            "heading": f"Run {job.script} again",
            "lead": f"The job is {job.status}. It runs again with the same data,"
            " and its effects happen again.",
            "button": "Run again",
            "leave": "Cancel",
        }

    def change(self, job: QueuedJob) -> str:
        actions.reset(job.pk)
        return self.sentence(True, "{} will run again.", "")


class Abort(JobConfirmation):
    """The page aborts jobs at once; repeating ones ask, since no further run follows."""

    verb = "abort"
    too_late = "{} had already finished."

    def is_possible(self, job: QueuedJob) -> bool:
        return job.status not in ENDED

    def words(self, job: QueuedJob) -> dict[str, Any]:
        word = "End" if job.repeat_times else "Abort"
        rest = " No further runs follow. 'Retry' on its page starts it over."
        return {
            "heading": f"{word} {job.script}",
            "lead": "The job ends as aborted, without callbacks. If it is running, it is stopped."
            f"{rest if job.repeat_times else ''}",
            "button": f"{word} it",
            "leave": "Keep the job",
            "takes_reason": True,
            "is_danger": True,
        }

    def change(self, job: QueuedJob) -> str:
        changed = actions.abort(job.pk, reason=self.reason())
        return self.sentence(changed, "{} is aborted.", self.too_late)


class Delete(JobConfirmation):
    verb = "delete"

    def words(self, job: QueuedJob) -> dict[str, Any]:
        return {
            "heading": f"Delete job {job.pk}",
            "lead": "Its attempts and log lines are deleted too. This cannot be undone.",
            "button": "Delete job",
            "leave": "Cancel",
            "is_danger": True,
            "rest": curl(f"/api/v1/jobs/{job.pk}", "DELETE"),
        }

    def change(self, job: QueuedJob) -> str:
        actions.delete(job.pk)
        return f"Job {job.pk} is deleted."

    def after(self) -> str:
        return reverse("atributo:jobs")
