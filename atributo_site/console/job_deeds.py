"""The buttons of a job's page that do what they say at once."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from allocation.errors import AtributoError
from atributo_site.console.job import found
from atributo_site.console.reasons import reason_of
from atributo_site.console.screen import Screen
from queues import pausing, steering
from queues.models import QueuedJob

CONFLICT = 409


class Deed(Screen):
    actions = {"POST": "job.operate"}

    def post(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
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


class RunNow(Deed):
    def do(self, job: QueuedJob) -> None:
        done = steering.run_now(job.pk)
        self.tell(job, done, "{} is due now.", "{} does not wait.")


class Pause(Deed):
    def do(self, job: QueuedJob) -> None:
        done = pausing.pause(job.pk, reason=self.reason())
        paused = "{} is paused: nothing of it starts any more."
        self.tell(job, done, paused, "{} was paused already.")


class Resume(Deed):
    def do(self, job: QueuedJob) -> None:
        done = pausing.resume(job.pk)
        self.tell(job, done, "{} goes on, in the rhythm that it had.", "{} was not paused.")
