"""One job: its attempts, log, data and result."""

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django_htmx.http import HttpResponseClientRefresh

from allocation.errors import InvalidJobId as NotDecodable
from allocation.job_ids import parse
from allocation.models import Event
from allocation.models.clock import database_now
from atributo_site.console.durations import duration
from atributo_site.console.job_journal import add_journals
from atributo_site.console.job_path import path
from atributo_site.console.job_state import job_state, repeats_said
from atributo_site.console.navigation import address
from atributo_site.console.screen import Screen
from atributo_site.console.trace import of_the_script
from atributo_site.permissions import may
from queues.errors import JobNotFound
from queues.handles import parsed_id
from queues.hiding import hiding_of
from queues.models import QueuedJob
from queues.shown import attempts_shown, job_shown, run_of_runs
from queues.waiting import waiting_said

SOON = timedelta(minutes=1)
NEWEST_ATTEMPTS = 30
NEWEST_LINES = 200
PUSHED_AGAIN = "job.pushed_again"


class Job(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/job.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = found(job_id)
        if job.status != "progress" and request.headers.get("HX-Target") == "running":
            return HttpResponseClientRefresh()  # the part that was live is over
        now = database_now()
        self.title = f"Job {job.pk}"
        attempts = timeline(job)
        events = list(Event.objects.newest_first().filter(subject=f"job:{job.pk}")[:10])
        add_journals(attempts)
        state, hiding, waits_for = job_state(job, now), hiding_of(job), waiting_said(job, now)
        return self.show(
            now=now,
            job=job,
            state=state,
            path=path(job, attempts, state, now),
            data=hiding.data(job.data),
            result=hiding.result(job.result, job.data),
            attempts=attempts[::-1],
            about_to_start=is_about_to_start(job, now),
            current=attempts[-1] if job.status == "progress" and attempts else None,
            newest_first=attempts[-1]["log"][::-1] if attempts else [],
            troubled=job.status == "failed" or job.run_failures > 0 or job.lost > 0,
            callbacks=callbacks(job, now),
            repeats=repeats_said(job, now),
            run_said=run_of_runs(job),
            limit_seconds=job.timeout_ms and job.timeout_ms / 1000,
            as_rest={**job_shown(job), "waits_for": waits_for},
            permalink=request.build_absolute_uri(job.get_absolute_url()),
            script_url=address("script", job.mount, job.script),
            decoded=decoded(job.pk),
            events=events,
            pushed_again=pushed_again(events),
            may_operate=may(request.user, "job.operate"),
            waits_for=waits_for,
        )


def callbacks(job: QueuedJob, now: datetime) -> list[dict[str, Any]]:
    rows = QueuedJob.objects.filter(parent=job.pk).defer("data", "result").order_by("-pk")[:20]
    return [{"job": row, "state": job_state(row, now)} for row in rows]


def found(job_id: str) -> QueuedJob:
    job = QueuedJob.objects.select_related("queue").filter(pk=parsed_id(job_id)).first()
    if job is None:
        raise JobNotFound(f"There is no job {job_id}.", job=job_id)
    return job


def is_about_to_start(job: QueuedJob, now: datetime) -> bool:
    """Whoever has just pushed it wants to see it start, which no event tells."""
    is_held = job.paused_at is not None or job.queue.paused
    return job.status == "pending" and not is_held and job.due_at <= now + SOON


def timeline(job: QueuedJob) -> list[dict[str, Any]]:
    """Attempts oldest first, each with when it began, and its last lines."""
    attempts = attempts_shown(job, NEWEST_ATTEMPTS)
    for earlier, attempt in zip([None, *attempts], attempts, strict=False):
        attempt["began"] = began(job, attempt, earlier)
        attempt["own_trace"] = of_the_script(attempt["traceback"])
        attempt["left_out"] = max(0, len(attempt["log"]) - NEWEST_LINES)
        attempt["log"] = attempt["log"][-NEWEST_LINES:]
    return attempts


def began(job: QueuedJob, attempt: dict[str, Any], earlier: dict[str, Any] | None) -> str:
    """How long it waited once it was due; of past attempts only what they followed is known."""
    begin = attempt["started_at"]
    if attempt["attempt"] == job.attempt and job.status != "pending" and job.due_at <= begin:
        return f"waited {_between(job.due_at, begin)}"
    if earlier is not None:
        end = earlier["ended_at"] or earlier["started_at"]
        return f"{_between(end, begin)} after attempt {earlier['attempt']}"
    return f"{_between(job.created_at, begin)} after the push" if attempt["attempt"] == 1 else ""


def _between(begin: datetime, end: datetime) -> str:
    return duration(max(0.0, (end - begin).total_seconds()))


def pushed_again(events: list[Event]) -> list[str]:
    """The jobs that were made of this one by an edit, as far as events tell."""
    return [event.facts["job"] for event in events if event.kind == PUSHED_AGAIN]


def decoded(job_id: int) -> dict[str, Any] | None:
    try:
        found = parse(job_id)
    except NotDecodable:
        return None
    return {"time": found.time, "worker": found.worker_id, "cluster_size": found.cluster_size}
