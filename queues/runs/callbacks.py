"""Push callbacks: jobs that are called with (result, data, job) once a run has ended."""

import json
from typing import Any

from atributo_site.core.database import dialect, execute
from queues.logic.ranks import CALLBACK
from queues.models import QueuedJob
from queues.runs.ids import get_job_ids
from queues.runs.outcome_rows import OutcomeRow
from queues.sql import push

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
