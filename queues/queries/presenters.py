"""Turn queues, jobs and services into plain values for screens, REST and commands.

Secrets are masked. A sticky job also says what it waits for.
"""

from datetime import datetime
from typing import Any

from atributo_site.core import redaction
from queues.logic import secret_fields
from queues.logic.absence import WaitingJob, WhenAway, waits_for
from queues.logic.lateness import lateness
from queues.logic.lifecycle import FOREVER
from queues.logic.ranks import is_in_line
from queues.models import (
    AttemptTransaction,
    Queue,
    QueuedJob,
    Run,
    RunLog,
    Script,
    Service,
    Slot,
    Station,
)
from queues.models.job import SERIAL, WITH_TURN
from queues.queries import batches, flows
from queues.queries.backlog import first_due, oldest_is_sticky, oldest_seconds
from queues.queries.redaction import hiding_of
from queues.queries.states import job_state

SUMS = ("pushed", "complete", "failed", "retried")
NOTHING = dict.fromkeys(SUMS, 0)


def masked_by_schema(value: Any, schema: dict[str, Any] | None) -> Any:
    """Mask what looks like a secret or is marked as one in the schema."""
    return redaction.hidden(value, secret_fields.secret_names(schema))


def queue_dict(queue: Queue, running: int | None = None) -> dict[str, Any]:
    return {
        "name": queue.name,
        "max_workers": queue.max_workers,
        "running": live_slots(queue) if running is None else running,
        "paused": queue.paused,
        "paused_by": queue.paused_by,
        "retention_days": queue.retention_days,
        "when_away": queue.when_away,
        "away_seconds": queue.away_seconds,
        "target_age_seconds": queue.target_age_seconds,
        "record_start": queue.record_start,
        "limits": queue.limits or [],
        "weights": queue.weights or {},
        "created_at": queue.created_at,
    }


def queue_status(queue: Any, now: datetime, hour: dict[str, int] | None) -> dict[str, Any]:
    """Describe one queue with its depth and its last hour."""
    counts = hour or NOTHING
    oldest, own = oldest_seconds(queue, now), queue.target_age_seconds
    return {
        "name": queue.name,
        "running": queue.running,
        "max_workers": queue.max_workers,
        "paused": queue.paused,
        "paused_by": queue.paused_by,
        "waiting": queue.due,
        "delayed": queue.delayed,
        "next_due_at": first_due(queue),
        "oldest_seconds": oldest,
        "target_age_seconds": own,
        "lateness": lateness(oldest, own, queue.paused),
        "oldest_is_sticky": oldest_is_sticky(queue),
        "waits_for": queue.waits_for,
        "flows_waiting": queue.flows_waiting,
        "hour": {name: counts[name] for name in SUMS},
    }


def live_slots(queue: Queue) -> int:
    return Slot.objects.live().filter(queue=queue).count()


def job_dict(job: QueuedJob, now: datetime) -> dict[str, Any]:
    hiding = hiding_of(job)
    return {
        "id": str(job.pk),
        "queue": job.queue.name,
        "script": {"mount": job.mount, "name": job.script},
        "status": job.status,
        "state": job_state(job, now),
        "data": hiding.data(job.data),
        "result": hiding.result(job.result, job.data),
        "error": job.error,
        "attempt": job.attempt,
        "runs": job.runs,
        "run_failures": job.run_failures,
        "run": run_of_runs(job),
        "max_failures": job.max_failures,
        "repeat_times": job.repeat_times,
        "repeat_delay": job.repeat_delay_ms,
        "repeat_until": job.repeat_until,
        "paused": job.paused,
        "paused_by": job.paused_by,
        "pause_reason": job.pause_reason,
        "back_off": job.back_off,
        "timeout": job.timeout_ms,
        "success": job.success,
        "failure": job.failure,
        "priority": job.priority,
        "unique_key": job.unique_key,
        "flow_key": job.flow_key or None,
        "limits": job.limits or [],
        "sticky_key": job.sticky_key,
        "concurrent": job.concurrent,
        "instance": job.routed_to,
        "instance_epoch": job.routed_epoch,
        "pushed_by": job.pushed_by,
        "created_at": job.created_at,
        "delay_until": job.starts_at,
        "batch": str(job.batch_id) if job.batch_id else None,
        "expires_at": job.expires_at,
        "expired": job.expired_at is not None,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
    }


def run_of_runs(job: QueuedJob) -> str:
    """Return which run waits, runs or was the last, such as "2 of 4"."""
    ended = job.status in {"complete", "failed"}
    current = max(1, job.runs) if ended else job.runs + 1
    total = "∞" if job.repeat_times == FOREVER else max(current, job.repeat_times + 1)
    return f"{current} of {total}"


def attempt_dict(run: Run, lines: list[RunLog], transactions: list[int]) -> dict[str, Any]:
    return {
        "attempt": run.attempt,
        "run": run.number,
        "worker": run.worker,
        "outcome": run.outcome,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "seconds": seconds_between(run.started_at, run.ended_at),
        "error": run.error,
        "traceback": run.traceback,
        "percent": run.percent,
        "note": run.note,
        "transactions": transactions,
        "log": [{"at": line.at, "level": line.level, "text": line.text} for line in lines],
    }


def seconds_between(begin: datetime, end: datetime | None) -> float | None:
    return None if end is None else (end - begin).total_seconds()


def attempt_dicts(job: QueuedJob, newest: int = 100) -> list[dict[str, Any]]:
    """Return the last attempts, oldest first, each with its log lines and transactions."""
    runs = list(Run.objects.filter(job=job).order_by("-attempt")[:newest])[::-1]
    lines: dict[int, list[RunLog]] = {}
    first = runs[0].attempt if runs else 0
    of_these = {"job": job, "attempt__gte": first}
    newest_lines = RunLog.objects.filter(**of_these).order_by("-attempt", "-id")[:5000]
    for line in list(newest_lines)[::-1]:
        lines.setdefault(line.attempt, []).append(line)
    begun: dict[int, list[int]] = {}
    noted_ones = AttemptTransaction.objects.filter(**of_these).order_by("attempt", "id")
    for noted in noted_ones[:500]:
        begun.setdefault(noted.attempt, []).append(noted.transaction)
    return [
        attempt_dict(run, lines.get(run.attempt, []), begun.get(run.attempt, [])) for run in runs
    ]


def service_dict(service: Service) -> dict[str, Any]:
    return {
        "mount": service.mount,
        "name": service.name,
        "version": service.version,
        "description": service.description,
        "development": service.development,
        "scripts": {script.name: script.title for script in service.scripts.all()},
        "configuration": configuration_dict(service),
        "missing_options": service.missing_options,
        "installed_at": service.installed_at,
        "changed_at": service.changed_at,
    }


def configuration_dict(service: Service) -> dict[str, Any]:
    return redaction.hidden(service.settings(), secret_fields.passwords_of(service.definitions))


def script_dict(script: Script) -> dict[str, Any]:
    return {
        "name": script.name,
        "title": script.title,
        "description": script.description,
        "schema": script.schema,
        "defaults": script.defaults,
        "record_start": script.record_start,
        "limits": script.limits or [],
        "limits_by": script.limits_by,
        "declared_limits": (script.declared_limits if script.limits_by else script.limits) or [],
        "threads": script.threads,
    }


def wait_reason(job: QueuedJob, now: datetime) -> str:
    """Say in a sentence what a job waits for: others, its instance or key, or a limit."""
    if job.status != "pending":
        return ""
    if job.is_blocked and not job.paused:
        return batches.wait_reason(job)
    if job.sticky_key is None:
        return "" if job.paused else flows.reason(job)
    if job.paused:
        return "It is paused."
    if job.slot_id is not None:
        return f"A worker of {job.routed_to} is about to start it."
    away_since = _away_since(job.routed_to)
    if away_since is None and not job.queue.paused and (limit := flows.reason(job)):
        return limit
    waiting = WaitingJob(
        job.sticky_key,
        job.due_at,
        job.routed_to,
        away_since,
        _busy_at(job),
        _first_of_its_key(job) if is_in_line(job.rank) else None,
        job.queue.paused,
    )
    return waits_for(waiting, WhenAway(job.queue.when_away), job.queue.away_seconds, now)


def _away_since(instance_id: str | None) -> datetime | None:
    station = Station.objects.away().filter(pk=instance_id).first() if instance_id else None
    return None if station is None else station.served_until


def _busy_at(job: QueuedJob) -> str | None:
    held = QueuedJob.objects.filter(sticky_key=job.sticky_key, slot_id__gt=0)
    if job.concurrent:
        held = held.exclude(routed_to=job.routed_to)
    return held.values_list("routed_to", flat=True).first()


def _first_of_its_key(job: QueuedJob) -> int | None:
    """Return the job with the turn; none for the moment in which it is passed on."""
    of_key = QueuedJob.objects.unfinished().filter(SERIAL, WITH_TURN, sticky_key=job.sticky_key)
    return of_key.filter(queue=job.queue_id).values_list("pk", flat=True).first()
