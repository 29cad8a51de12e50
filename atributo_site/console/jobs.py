"""Jobs: lists by state, failures by error, one page per job, and actions on all that match."""

import json
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from allocation.errors import AtributoError
from allocation.job_ids import parse
from allocation.models.clock import database_now
from atributo_site.console.screen import Screen
from atributo_site.keyset import MOST_COUNTED, capped_count, page_by_key, said_count
from queues import steering
from queues.api_jobs import found
from queues.errors import BadPush
from queues.models import QueuedJob
from queues.models.job import CHOICES
from queues.search import failure_groups, search
from queues.shown import attempts_shown, job_shown

FILTERS = ("status", "queue", "mount", "script", "fingerprint", "error", "data")
DOINGS = {
    "retry": (steering.reset_many, "job.operate"),
    "abort": (steering.abort_many, "job.operate"),
    "delete": (steering.delete_many, "job.operate"),
}


class Jobs(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs.html"
    title = "Jobs"

    def get(self, request: HttpRequest) -> HttpResponse:
        filters = filters_of(request.GET)
        page = page_by_key(
            search(filters),
            after=request.GET.get("after", ""),
            before=request.GET.get("before", ""),
        )
        return self.show(
            filters=filters,
            page=page,
            tabs=tabs(filters),
            query=urlencode({name: text for name, text in filters.items() if text}),
            now=database_now(),
        )


class Failures(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/failures.html"
    title = "Failures"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(groups=failure_groups(), tabs=tabs({}, failures=True), now=database_now())


class Bulk(Screen):
    """First the question with the count, then the deed; the filter is sent along both times."""

    actions = {"POST": "job.operate"}
    template_name = "console/jobs_confirm.html"
    title = "Are you sure?"

    def post(self, request: HttpRequest) -> HttpResponse:
        doing = request.POST.get("do", "")
        filters = filters_of(request.POST)
        if doing not in DOINGS or not any(filters.values()):
            raise BadPush("choose what to do, and with which jobs: an empty filter is refused")
        jobs = search(filters)
        if request.POST.get("count"):
            return self._do(request, doing, jobs)
        count = capped_count(jobs)
        return self.show(
            doing=doing,
            filters=filters,
            count=count,
            said=said_count(count),
            first=jobs.order_by("-pk")[:5],
        )

    def _do(self, request: HttpRequest, doing: str, jobs: Any) -> HttpResponse:
        ids = list(jobs.order_by("-pk").values_list("pk", flat=True)[:MOST_COUNTED])
        done = DOINGS[doing][0](ids)
        messages.success(request, f"{done} of {len(ids)} jobs: {doing} done.")
        return redirect("jobs")


class Job(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/job.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        shown = job_shown(job, job.schema())
        callbacks = QueuedJob.objects.filter(parent=job.pk).order_by("id")[:50]
        return self.show(
            title=f"Job {job.pk}",
            job=shown,
            attempts=attempts_shown(job),
            callbacks=callbacks,
            decoded=decoded(job_id),
            edited=json.dumps(shown["data"], ensure_ascii=False, indent=2),
            queues=[queue.name for queue in queues_there()],
            now=database_now(),
        )


class JobAction(Screen):
    actions = {"POST": "job.operate"}
    said = ""

    def post(self, request: HttpRequest, job_id: str) -> HttpResponse:
        self.act(found(job_id).pk)
        messages.success(request, self.said)
        return redirect("job", job_id)

    def act(self, pk: int) -> None:
        raise NotImplementedError


class AbortJob(JobAction):
    said = "The job is aborted."

    def act(self, pk: int) -> None:
        steering.abort(pk)


class RetryJob(JobAction):
    said = "The job runs again."

    def act(self, pk: int) -> None:
        steering.reset(pk)


class RunJobNow(JobAction):
    said = "The job is due now."

    def act(self, pk: int) -> None:
        steering.run_now(pk)


class PushAgain(Screen):
    """The same script with edited data, as a new job."""

    actions = {"POST": "job.push"}

    def post(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        try:
            data = json.loads(request.POST.get("data") or "null")
        except ValueError as error:
            raise BadPush(f"the data is not JSON: {error}") from error
        queue = queues.get(request.POST.get("queue") or job.queue.name)
        pushed = queue.push({"mount": job.mount, "name": job.script}, data)
        messages.success(request, "The new job is pushed.")
        return redirect("job", pushed)


def filters_of(given: Any) -> dict[str, str]:
    return {name: given.get(name, "").strip()[:320].replace("\x00", "") for name in FILTERS}


def tabs(filters: dict[str, str], *, failures: bool = False) -> list[dict[str, Any]]:
    """Every state with its count, counted no further than 10,000."""
    shown = [{"name": "all", "query": "", "current": not filters.get("status") and not failures}]
    for status, _ in CHOICES:
        count = said_count(capped_count(QueuedJob.objects.visible().filter(status=status)))
        current = filters.get("status") == status
        shown.append(
            {"name": status, "query": f"?status={status}", "count": count, "current": current}
        )
    return shown


def decoded(job_id: str) -> Any:
    """What the id tells; None for one that was not made here."""
    try:
        return parse(job_id)
    except AtributoError:
        return None


def queues_there() -> Any:
    from queues.models import Queue

    return Queue.objects.existing().order_by("name")[:200]
