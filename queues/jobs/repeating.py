"""Jobs that repeat: list them with their last runs, and change how often and how long they do."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import F
from django.db.transaction import atomic

from atributo_site.core.events import record
from atributo_site.core.models.clock import database_now
from queues.errors import BadSchedule, JobIsRunning, JobNotFound, JobRepeatsNot
from queues.jobs.actions import ring_for
from queues.logic.lifecycle import FOREVER
from queues.logic.options import PARSERS, BadOption
from queues.logic.repeats import next_in_new_rhythm
from queues.models import QueuedJob, Run
from queues.models.job import REPEATING

LAST_RUNS = 20

# SQLite takes a partial index only where its condition stands in the query as it was defined.
INDEXED = "queues_queuedjob.ended_at IS NULL AND NOT (queues_queuedjob.repeat_times = 0)"
COLUMNS = {
    "repeat_delay": "repeat_delay_ms",
    "repeat_times": "repeat_times",
    "repeat_until": "repeat_until",
}


def repeating() -> Any:
    """Return unfinished jobs that repeat, in any order."""
    return QueuedJob.objects.visible().extra(where=[INDEXED])  # nosec B610 # a constant condition


def last_runs(ids: list[int]) -> dict[int, list[Run]]:
    """Return the last attempts of each job, oldest first, by one query for all."""
    runs: dict[int, list[Run]] = {job_id: [] for job_id in ids}
    recent = Run.objects.filter(job_id__in=ids, attempt__gt=F("job__attempt") - LAST_RUNS)
    for run in recent.defer("error", "traceback", "note").order_by("job_id", "attempt"):
        runs[run.job_id].append(run)
    return runs


def reschedule(job_id: int, changes: Mapping[str, Any]) -> bool:
    """Change what is given; `repeat_until` None means no end. False when nothing changed."""
    wanted = _parsed(changes)
    rows = QueuedJob.objects.filter(pk=job_id)
    waiting = rows.waiting().filter(REPEATING)
    with atomic():
        job = waiting.select_for_update().first()
        if job is None:
            raise _refusal(rows, job_id)
        new = {name: value for name, value in wanted.items() if value != _value(job, name)}
        if not new:
            return False
        now = database_now()
        _check(job, new, now)
        columns = {COLUMNS[name]: value for name, value in new.items()}
        seen = waiting.filter(attempt=job.attempt, runs=job.runs)
        if not seen.update(**columns, due_at=_due_at(job, new, now)):
            raise _refusal(rows, job_id)  # a worker was first
        before = {name: _as_json(_value(job, name)) for name in new}
        after = {name: _as_json(value) for name, value in new.items()}
        record("job.rescheduled", f"job:{job_id}", before=before, after=after)
        ring_for(job_id)
    return True


def _parsed(changes: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(changes) - set(COLUMNS))
    if unknown:
        raise BadSchedule(f"a schedule has {', '.join(COLUMNS)}, not {', '.join(unknown)}")
    try:
        return {
            name: None if name == "repeat_until" and value is None else PARSERS[name](name, value)
            for name, value in changes.items()
        }
    except BadOption as error:
        raise BadSchedule(str(error)) from error


def _check(job: QueuedJob, new: Mapping[str, Any], now: datetime) -> None:
    """Refuse a schedule without another run: a job that shall not run again is aborted instead."""
    times, until = new.get("repeat_times", FOREVER), new.get("repeat_until")
    least = max(1, job.runs)
    if times != FOREVER and times < least:
        raise BadSchedule(
            f"repeat_times must be at least {least} for job {job.pk}, which has finished "
            f"{job.runs} of its runs, or -1 to repeat forever; not {times}"
        )
    if until is not None and until <= now:
        raise BadSchedule(f"repeat_until is over already: {until.isoformat()}; abort ends a job")


def _due_at(job: QueuedJob, new: Mapping[str, Any], now: datetime) -> datetime:
    """Return when the job is due now; a first run and a retry keep their moment."""
    if "repeat_delay" not in new or not job.runs or job.run_failures or job.lost:
        return job.due_at
    return next_in_new_rhythm(job.due_at, job.repeat_delay_ms, new["repeat_delay"], now)


def _refusal(rows: Any, job_id: int) -> Exception:
    if not rows.exists():
        return JobNotFound(f"Job does not exist: {job_id}", job=str(job_id))
    if not rows.filter(REPEATING).exists():
        return JobRepeatsNot(f"job {job_id} does not repeat or has ended: it has no schedule")
    return JobIsRunning(f"job {job_id} is running: change its schedule when this run has ended")


def _value(job: QueuedJob, name: str) -> Any:
    return getattr(job, COLUMNS[name])


def _as_json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
