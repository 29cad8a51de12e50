"""Show one job: its way through the states, attempts, logs, data and result."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django_htmx.http import HttpResponseClientRefresh

from allocation.errors import InvalidJobId as NotDecodable
from allocation.job_ids.ids import parse
from atributo_site.console.base.navigation import address
from atributo_site.console.base.screen import Screen
from atributo_site.console.jobs.drawing import drawing_of
from atributo_site.console.jobs.journal import add_journals
from atributo_site.console.jobs.state import job_state, repeat_sentence, with_states
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.format import duration
from atributo_site.web.pagination import whole
from queues.errors import JobNotFound
from queues.jobs.handles import parsed_id
from queues.models import QueuedJob, Run, RunLog
from queues.queries.presenters import attempt_dicts, job_dict, run_of_runs, wait_reason
from queues.queries.redaction import hiding_of

SOON = timedelta(minutes=1)
NEWEST_ATTEMPTS = 30
NEWEST_LINES = 200
PUSHED_AGAIN = "job.pushed_again"
STEPS_SHOWN = 4  # attempts; one step stands for all before them
NEIGHBOURS = 30  # attempts that the log links to
FRAME = re.compile(r'  File "')
LIBRARY = re.compile(r'  File "[^"]*[/\\]lib[/\\]python3')
ENGINE = r"(execution[/\\]\w+|services[/\\]bundle)"
OURS = re.compile(rf'  File "[^"]*[/\\]queues[/\\]{ENGINE}\.py"')


class Job(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = job_or_404(job_id)
        if job.status != "progress" and request.headers.get("HX-Target") == "running":
            return HttpResponseClientRefresh()  # the part that was live is over
        now = database_now()
        self.title = f"Job {job.pk}"
        attempts = timeline(job)
        events = list(Event.objects.newest_first().filter(subject=f"job:{job.pk}")[:10])
        add_journals(attempts)
        state, hiding, waits_for = job_state(job, now), hiding_of(job), wait_reason(job, now)
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
            repeats=repeat_sentence(job, now),
            run_number=run_of_runs(job),
            limit_seconds=job.timeout_ms and job.timeout_ms / 1000,
            as_rest={**job_dict(job, now), "waits_for": waits_for},
            permalink=request.build_absolute_uri(job.get_absolute_url()),
            script_url=address("script", job.mount, job.script),
            decoded=decoded(job.pk),
            events=events,
            pushed_again=pushed_again(events),
            may_operate=may(request.user, "job.operate"),
            waits_for=waits_for,
            links=drawing_of(job, now),
        )


def callbacks(job: QueuedJob, now: datetime) -> list[dict[str, Any]]:
    rows = QueuedJob.objects.filter(parent=job.pk).defer("data", "result").order_by("-pk")[:20]
    return with_states(rows, now)


def job_or_404(job_id: str) -> QueuedJob:
    job = QueuedJob.objects.select_related("queue").filter(pk=parsed_id(job_id)).first()
    if job is None:
        raise JobNotFound(f"Job {job_id} does not exist.", job=job_id)
    return job


def is_about_to_start(job: QueuedJob, now: datetime) -> bool:
    """Say whether the page should look again soon: no event tells that a job starts."""
    is_held = job.paused_at is not None or job.queue.paused
    if job.is_blocked:
        return True
    return job.status == "pending" and not is_held and job.due_at <= now + SOON


def timeline(job: QueuedJob) -> list[dict[str, Any]]:
    """Return the attempts, oldest first, each with how it began and its last log lines."""
    attempts = attempt_dicts(job, NEWEST_ATTEMPTS)
    for earlier, attempt in zip([None, *attempts], attempts, strict=False):
        attempt["began"] = began(job, attempt, earlier)
        attempt["own_trace"] = own_trace(attempt["traceback"])
        attempt["left_out"] = max(0, len(attempt["log"]) - NEWEST_LINES)
        attempt["log"] = attempt["log"][-NEWEST_LINES:]
    return attempts


def began(job: QueuedJob, attempt: dict[str, Any], earlier: dict[str, Any] | None) -> str:
    """Say how long the last attempt waited once it was due, or what an earlier one followed."""
    begin = attempt["started_at"]
    if attempt["attempt"] == job.attempt and job.status != "pending" and job.due_at <= begin:
        return f"waited {_between(job.due_at, begin)}"
    if earlier is not None:
        end = earlier["ended_at"] or earlier["started_at"]
        return f"{_between(end, begin)} after attempt {earlier['attempt']}"
    return f"{_between(job.created_at, begin)} after the push" if attempt["attempt"] == 1 else ""


def pushed_again(events: list[Event]) -> list[str]:
    """Return the ids of jobs that an edit made of this one, as far as its events tell."""
    return [event.facts["job"] for event in events if event.kind == PUSHED_AGAIN]


def decoded(job_id: int) -> dict[str, Any] | None:
    try:
        parts = parse(job_id)
    except NotDecodable:
        return None
    return {"time": parts.time, "worker": parts.worker_id, "cluster_size": parts.cluster_size}


@dataclass(frozen=True)
class Step:
    word: str  # a state
    detail: str  # the line below it
    gap: str = ""  # the time since the step before


def path(job: Any, attempts: list[dict[str, Any]], state: str, now: datetime) -> list[Step]:
    """Return the way of a job: pushed, its last attempts (oldest first), and what comes next."""
    newest = attempts[-STEPS_SHOWN:]
    steps = [Step("pushed", f"{_between(job.created_at, now)} ago")]
    left_out = newest[0]["attempt"] - 1 if newest else 0
    if left_out:
        steps.append(Step("…", f"{left_out} attempt{'s' if left_out > 1 else ''} before"))
    before = None if left_out else job.created_at
    for attempt in newest:
        steps.append(_attempted(attempt, before, now))
        before = attempt["ended_at"]
    return [*steps, *_next(job, state, before, now)]


def _attempted(attempt: dict[str, Any], before: datetime | None, now: datetime) -> Step:
    begun, ended = attempt["started_at"], attempt["ended_at"]
    detail = f"attempt {attempt['attempt']} · {_between(begun, ended or now)}"
    return Step(attempt["outcome"], detail, _between(before, begun) if before else "")


def _next(job: Any, state: str, before: datetime | None, now: datetime) -> list[Step]:
    """Add a step for a job that waits, or that was aborted after its last attempt."""
    if state == "blocked":
        return [Step(state, "waits for other jobs")]
    if job.status == "pending":
        due = "due" if job.due_at <= now else f"in {_between(now, job.due_at)}"
        return [Step(state, due)]
    if state in ("aborted", "expired"):
        ended_at = job.aborted_at if state == "aborted" else job.expired_at
        if before is None or before < ended_at:
            return [Step(state, f"{_between(ended_at, now)} ago")]
    return []


def _between(begin: datetime, end: datetime) -> str:
    return duration(max(0.0, (end - begin).total_seconds()))


def own_trace(traceback: str) -> str:
    """Return the traceback without the engine's frames; empty if that is all of it or none."""
    kept, is_ours = [], False
    for line in traceback.splitlines(keepends=True):
        if FRAME.match(line):
            is_ours = OURS.match(line) is not None
        elif not line.startswith("  ") and line.strip():  # a heading or the error
            is_ours = False
        if not is_ours:
            kept.append(line)
    own = "".join(kept)
    has_own = any(FRAME.match(line) and not LIBRARY.match(line) for line in kept)
    return own if has_own and own != traceback else ""


class Log(Screen):
    actions = {"GET": "job.view"}
    template_name = "console/jobs/log.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        job = job_or_404(job_id)
        runs = Run.objects.filter(job=job).order_by("-attempt")
        run = chosen_run(job, runs, request.GET.get("attempt", ""))
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


def chosen_run(job: QueuedJob, runs: Any, attempt: str) -> Run | None:
    """Return the attempt that the address names, else the newest; None if there is none."""
    if not attempt:
        return runs.first()
    run = runs.filter(attempt=whole(attempt) or 0).first()
    if run is None:
        raise JobNotFound(f"There is no attempt {attempt} of job {job.pk}.", job=str(job.pk))
    return run
