"""Tell of ends: push callbacks of runs, and settle what waits for the end of jobs.

A callback is a job that is called with (result, data, job) once a run has ended.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from atributo_site.core.after_commit import after_commit
from atributo_site.core.database import dialect, execute
from atributo_site.core.retry import retry_busy
from queues.flow import flows
from queues.links import settling
from queues.links.settling import Settled
from queues.logic.ranks import CALLBACK
from queues.models import Queue, QueuedJob
from queues.runs import turns
from queues.runs.doorbell import ring
from queues.runs.ids import get_job_ids
from queues.runs.outcome_rows import OutcomeRow
from queues.sql import push

MOST_RUNG = 1000

OPTIONS = {
    "max_failures": "max_failures",
    "repeat_times": "repeat_times",
    "repeat_delay": "repeat_delay_ms",
    "repeat_until": "repeat_until",
    "back_off": "back_off",
    "timeout": "timeout_ms",
    "success": "success",
    "failure": "failure",
    "unique_key": "unique_key",
    "sticky_key": "sticky_key",
    "concurrent": "concurrent",
    "delay_until": "due_at",
    "expires_at": "expires_at",
}
MOMENTS = ["created_at", "started_at", "ended_at"]


def push_callbacks(rows: list[OutcomeRow]) -> None:
    """Push the callbacks of runs, in the transaction that has recorded their results."""
    due = {each.result.job.id: each for each in rows if each.callback is not None}
    if not due:
        return
    parents = QueuedJob.objects.select_related("queue").in_bulk(list(due))
    statement = push.push(dialect(), once=True)
    for (parent_id, each), job_id in zip(due.items(), get_job_ids(len(due)), strict=True):
        row = dict.fromkeys(push.PUSHED) | _row(parents[parent_id], each) | {"id": job_id}
        execute(statement, row)


def _row(parent: QueuedJob, rows: OutcomeRow) -> dict[str, Any]:
    """Mark it as suspect, so that it is shown as running before it begins."""
    ref, row = rows.callback or {}, rows.row
    return {
        "queue_id": parent.queue_id,
        "mount": ref.get("mount", ""),
        "script": ref.get("function") or ref["name"],
        "data": json.dumps([row["result"], parent.data, _document(parent)]),
        "rank": CALLBACK,
        "concurrent": False,
        "pushed_by": f"job:{parent.pk}",
        "max_failures": 0,
        "repeat_times": 0,
        "repeat_delay_ms": 0,
        "back_off": "0",
        "timeout_ms": parent.timeout_ms,
        "parent": parent.pk,
        "parent_run": row["runs"],
        "suspect": True,
    }


def _document(job: QueuedJob) -> dict[str, Any]:
    """Describe the job now that the run has ended; data and result are arguments of their own."""
    values = {name: getattr(job, field) for name, field in OPTIONS.items()}
    values |= {name: getattr(job, name) for name in MOMENTS}
    return {
        "id": str(job.pk),
        "queue": job.queue.name,
        "mount": job.mount,
        "name": job.script,
        "status": job.status,
        "attempt": job.attempt,
        "runs": job.runs,
        "run_failures": job.run_failures,
        "error": job.error,
        "priority": job.priority,
        "pushed_by": job.pushed_by,
        **{name: _as_json(value) for name, value in values.items()},
    }


def _as_json(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def follow_ends(ids: Iterable[int]) -> None:
    """Once these ends are committed, settle the batches and jobs that wait for them."""
    ended = list(ids)
    if ended:
        after_commit(partial(tell_of_ends, ended))


def tell_of_ends(ids: Sequence[int]) -> Settled:
    """Settle what waits for jobs that have ended, and call workers to what may start."""
    settled = retry_busy(lambda: settling.settle(ids), repeatable=True)
    call(settled)
    return settled


def settle_blocked(ids: Sequence[int]) -> None:
    """Look at blocked jobs themselves: what they wait for may have ended before their commit."""
    settled = Settled()
    failed = retry_busy(lambda: settling.settle_blocked(ids, settled), repeatable=True)
    call(settled)
    if failed:
        tell_of_ends(failed)


def end_batch(batch_id: int) -> None:
    """Look whether a batch can end that nobody may add jobs to any more."""
    settled = Settled()
    retry_busy(lambda: settling.settle_batch(batch_id, settled), repeatable=True)
    call(settled)


def call(settled: Settled) -> None:
    """Ring for jobs that may start now, and for callbacks."""
    jobs = settled.released
    bells = Counter(job.queue_id for job in jobs if job.sticky_key is None)
    bells.update(settled.called)
    names = dict(Queue.objects.filter(pk__in=bells).values_list("pk", "name")) if bells else {}
    for queue_id, count in bells.items():
        in_flow = {job.flow_id for job in jobs if job.queue_id == queue_id and job.flow_id}
        if in_flow:
            flows.wake(queue_id, in_flow)
        ring(queue_id, names[queue_id], min(count, MOST_RUNG))
    _call_stations(settled)


def _call_stations(settled: Settled) -> None:
    """Pass turns of sticky keys on; those of their jobs that need none have a bell each."""
    sticky = [job for job in settled.released if job.sticky_key is not None]
    serial = {turns.Line(job.queue_id, job.sticky_key or "") for job in sticky}
    if not sticky:
        return
    turns.pass_on_and_ring(sorted(serial))
    beside = {(job.queue_id, job.routed_to) for job in sticky if job.concurrent and job.routed_to}
    names = dict(Queue.objects.filter(pk__in={pk for pk, _ in beside}).values_list("pk", "name"))
    for queue_id, station in beside:
        ring(queue_id, names[queue_id], station=station or "")
