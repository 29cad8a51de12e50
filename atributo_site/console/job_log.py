"""Every line that one attempt at a job has written."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from allocation.models.clock import database_now
from atributo_site.console.job import found
from atributo_site.console.numbers import whole
from atributo_site.console.screen import Screen
from queues.errors import JobNotFound
from queues.models import QueuedJob, Run, RunLog

NEIGHBOURS = 30


class Log(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/job_log.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        runs = Run.objects.filter(job=job).order_by("-attempt")
        run = asked_for(job, runs, request.GET.get("attempt", ""))
        lines = list(RunLog.objects.filter(job=job, attempt=run.attempt)) if run else []
        self.title = f"Log of job {job.pk}"
        return self.show(
            now=database_now(),
            job=job,
            run=run,
            attempts=list(runs.values_list("attempt", flat=True)[:NEIGHBOURS])[::-1],
            lines=lines,
            attempt={"log": lines},
        )


def asked_for(job: QueuedJob, runs: Any, attempt: str) -> Run | None:
    """The newest unless one is named; none where it never ran."""
    if not attempt:
        return runs.first()
    run = runs.filter(attempt=whole(attempt) or 0).first()
    if run is None:
        raise JobNotFound(f"There is no attempt {attempt} at job {job.pk}.", job=str(job.pk))
    return run
