"""Batches: open and close them, store one as a whole, retry what failed, abort the rest."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import IntegrityError
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from atributo_site.core.events import current_actor, record
from atributo_site.core.retry import surely
from queues.errors import BadBatch, BatchNotFound, QueueNotFound
from queues.jobs import actions, bulk
from queues.jobs.bulk import Done
from queues.jobs.push_request import code_reference
from queues.links import ending
from queues.logic.storable import is_storable
from queues.models import Batch, Queue, QueuedJob
from queues.runs.callbacks import end_batch
from queues.runs.ids import get_job_ids

LONGEST_NAME = 255
LONGEST_REASON = 255
PIECE = 500
FAILED = "failed"


def new(queue: str, name: str = "", done: Any = None, failed: Any = None) -> Batch:
    """Return a batch that is not stored yet; refuse what cannot be stored."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not is_storable(name):
        raise BadBatch(f"a batch's name is a text of up to {LONGEST_NAME} characters")
    row = Queue.objects.existing().filter(name=queue).first()
    if row is None:
        raise QueueNotFound(f"Queue does not exist: {queue}", queue=queue)
    return Batch(
        id=get_job_ids(1)[0],
        name=name,
        queue=row,
        done=_callback("done", done),
        failed=_callback(FAILED, failed),
        created_by=current_actor().name,
    )


def _callback(which: str, given: Any) -> Mapping[str, str] | None:
    return None if given is None else code_reference(which, given)


def open_batch(queue: str, name: str = "", done: Any = None, failed: Any = None) -> Batch:
    """Store a batch that takes jobs until it is closed; they start at once."""
    batch = new(queue, name, done, failed)

    def store() -> Batch:
        with atomic():
            batch.save(force_insert=True)
            record("batch.opened", f"batch:{batch.pk}", queue=queue, name=name)
        return batch

    return surely(store, lambda: Batch.objects.filter(pk=batch.pk).first())


def close(batch_id: int) -> bool:
    """Let no more jobs in, so that it can end; False when it was closed before."""
    with atomic():
        batches = Batch.objects.filter(pk=batch_id)
        closed = batches.filter(state=Batch.State.OPEN)
        changed = closed.update(state=Batch.State.RUNNING, closed_at=Now()) == 1
        if changed:
            record("batch.closed", f"batch:{batch_id}")
            after_commit(partial(end_batch, batch_id))
        elif not batches.exists():
            raise missing(batch_id)
    return changed


def retry_failed(batch_id: int) -> Done:
    """Start its failed jobs over: those that wait for others wait again, and it ends anew."""
    _check(batch_id)
    failed = QueuedJob.objects.filter(batch=batch_id, status=FAILED).order_by("pk")
    ids = list(failed.values_list("pk", flat=True))
    done = Done()
    try:
        _start_over(ids, done)
    except IntegrityError:  # a unique key is taken: find out by whom, one at a time
        done = bulk.apply("retry", ids)
    record("batch.retried", f"batch:{batch_id}", count=done.changed)
    return done


def _start_over(ids: list[int], done: Done) -> None:
    """Let all of them wait before any may start, whichever comes first among them."""
    with atomic():
        ending.reopen(ids[:1])
        parts = [ids[begin : begin + PIECE] for begin in range(0, len(ids), PIECE)]
        for part in parts:
            jobs = QueuedJob.objects.filter(pk__in=part, status=FAILED)
            done.changed += jobs.update(**actions.WAITING_AGAIN)
        for part in parts:
            actions.wait_for_others(part)
    for part in parts:
        bulk.call_for(part)


def abort_rest(batch_id: int, *, reason: str = "") -> Done:
    """Abort what has not ended, and close the batch: it ends as failed, unless all was done."""
    _check(batch_id)
    close(batch_id)
    jobs = QueuedJob.objects.unfinished().filter(batch=batch_id).order_by("-pk")
    done, oldest = Done(), 2**63 - 1
    while ids := list(jobs.filter(pk__lt=oldest).values_list("pk", flat=True)[:PIECE]):
        part = bulk.apply("abort", ids, schedules=True)
        done.changed += part.changed
        done.refused |= part.refused
        oldest = ids[-1]
    facts = {"reason": reason[:LONGEST_REASON]} if reason else {}
    record("batch.aborted", f"batch:{batch_id}", count=done.changed, **facts)
    return done


def _check(batch_id: int) -> None:
    if not Batch.objects.filter(pk=batch_id).exists():
        raise missing(batch_id)


def missing(batch_id: Any) -> BatchNotFound:
    return BatchNotFound(f"Batch does not exist: {batch_id}", batch=str(batch_id))
