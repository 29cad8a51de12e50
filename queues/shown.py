"""Queues, jobs and services as plain values for every door, without secrets."""

from datetime import datetime
from typing import Any

from allocation.logic import redaction
from queues.hiding import hiding_of
from queues.logic import scrub
from queues.logic.lifecycle import FOREVER
from queues.models import AttemptTransaction, Queue, QueuedJob, Run, RunLog, Script, Service, Slot


def hidden(value: Any, schema: dict[str, Any] | None) -> Any:
    """Without what looks like a secret or is marked as one in the schema."""
    return redaction.hidden(value, scrub.secret_names(schema))


def queue_shown(queue: Queue, running: int | None = None) -> dict[str, Any]:
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
        "created_at": queue.created_at,
    }


def live_slots(queue: Queue) -> int:
    return Slot.objects.live().filter(queue=queue).count()


def job_shown(job: QueuedJob) -> dict[str, Any]:
    hiding = hiding_of(job)
    return {
        "id": str(job.pk),
        "queue": job.queue.name,
        "script": {"mount": job.mount, "name": job.script},
        "status": job.status,
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
        "sticky_key": job.sticky_key,
        "instance": job.routed_to,
        "instance_epoch": job.routed_epoch,
        "pushed_by": job.pushed_by,
        "created_at": job.created_at,
        "delay_until": job.due_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
    }


def run_of_runs(job: QueuedJob) -> str:
    """«2 of 4»: which run is waiting, running or was the last."""
    ended = job.status in {"complete", "failed"}
    current = max(1, job.runs) if ended else job.runs + 1
    total = "∞" if job.repeat_times == FOREVER else max(current, job.repeat_times + 1)
    return f"{current} of {total}"


def attempt_shown(run: Run, lines: list[RunLog], transactions: list[int]) -> dict[str, Any]:
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


def attempts_shown(job: QueuedJob, newest: int = 100) -> list[dict[str, Any]]:
    """Its last attempts, oldest first, each with its log lines and transactions."""
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
        attempt_shown(run, lines.get(run.attempt, []), begun.get(run.attempt, [])) for run in runs
    ]


def service_shown(service: Service) -> dict[str, Any]:
    return {
        "mount": service.mount,
        "name": service.name,
        "version": service.version,
        "description": service.description,
        "development": service.development,
        "scripts": {script.name: script.title for script in service.scripts.all()},
        "configuration": configuration_shown(service),
        "installed_at": service.installed_at,
        "changed_at": service.changed_at,
    }


def configuration_shown(service: Service) -> dict[str, Any]:
    return redaction.hidden(service.settings(), scrub.passwords_of(service.definitions))


def script_shown(script: Script) -> dict[str, Any]:
    return {
        "name": script.name,
        "title": script.title,
        "description": script.description,
        "schema": script.schema,
        "defaults": script.defaults,
        "record_start": script.record_start,
    }
