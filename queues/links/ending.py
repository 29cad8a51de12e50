"""End batches: one conditional UPDATE decides who pushes the callback, in the same transaction."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import F
from django.db.transaction import atomic

from allocation.job_ids import ids
from atributo_site.core.database import dialect, execute
from atributo_site.core.events import record
from queues.links.sql import statements as sql
from queues.logic.backoff import DEFAULT_MS
from queues.models import Batch, QueuedJob
from queues.sql import push

NAMED = 20  # failed jobs that the callback is told


class Ended(NamedTuple):
    state: str
    called: set[int]  # the queue of the callback, if one was pushed


def end_batch(batch_id: int) -> Ended | None:
    """End a batch if all of its jobs have ended; None if not, or if somebody was faster."""
    asked = {"batch": batch_id}
    unfinished = execute(sql.UNFINISHED, asked).first
    if unfinished is not None and unfinished[0] is not None:
        return None
    callback_id = int(ids.get_job_id())  # outside of the transaction, which others wait for
    with atomic():
        if execute(sql.lock_running(dialect()), asked).first is None:
            return None
        row = execute(sql.end_batch(dialect()), asked).first
        if row is None:
            return None
        batch = Batch.objects.get(pk=batch_id)
        facts: dict[str, Any] = {"complete": batch.complete_jobs, "failed": batch.failed_jobs}
        record(f"batch.{batch.state}", f"batch:{batch_id}", **facts)
        return Ended(row[0], _call(batch, callback_id))


def _call(batch: Batch, callback_id: int) -> set[int]:
    """Push the callback for how the batch has ended, if it has one."""
    wanted = batch.done if batch.state == Batch.State.COMPLETE else batch.failed
    if wanted is None:
        return set()
    row = dict.fromkeys(push.PUSHED) | {
        "id": callback_id,
        "queue_id": batch.queue_id,
        "mount": wanted["mount"],
        "script": wanted["name"],
        "data": json.dumps([document(batch)]),
        "rank": 0,
        "concurrent": False,
        "pushed_by": f"batch:{batch.pk}",
        "max_failures": 0,
        "repeat_times": 0,
        "repeat_delay_ms": 0,
        "back_off": json.dumps(DEFAULT_MS),
        "suspect": False,
    }
    execute(push.push(dialect(), once=False), row)
    Batch.objects.filter(pk=batch.pk).update(callback_job=callback_id)
    return {batch.queue_id}


def reopen(job_ids: Sequence[int]) -> None:
    """Let batches run again of which an ended job is started over, before its row is changed.

    The batches are locked, so that none of them ends between the two.
    """
    jobs = QueuedJob.objects.filter(pk__in=job_ids, batch__isnull=False).order_by()
    batch_ids = sorted(set(jobs.values_list("batch_id", flat=True).distinct()))
    if not batch_ids:
        return
    batches = Batch.objects.filter(pk__in=batch_ids)
    list(batches.order_by("pk").select_for_update().values_list("pk"))
    reopened = batches.exclude(state__in=[Batch.State.OPEN, Batch.State.RUNNING])
    reopened.update(state=Batch.State.RUNNING, ended_at=None, restarts=F("restarts") + 1)


def document(batch: Batch) -> dict[str, Any]:
    """Describe an ended batch, as its callback gets it."""
    failed = QueuedJob.objects.filter(batch=batch, status="failed").order_by("pk")
    return {
        "id": str(batch.pk),
        "name": batch.name,
        "state": str(batch.state),
        "complete": batch.complete_jobs,
        "failed": batch.failed_jobs,
        "failed_jobs": [str(pk) for pk in failed.values_list("pk", flat=True)[:NAMED]],
        "restarts": batch.restarts,
    }
