"""Free the slot of a dead worker: record what it began, then give back what it had not begun."""

import json
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db.models import F
from django.db.transaction import atomic
from redis.exceptions import RedisError

from atributo_site.core.errors import LeaseLost
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import from_now
from queues.flow import flows
from queues.logic.lifecycle import Outcome, Status
from queues.models import QueuedJob, Slot
from queues.runs import abandoned, outcomes
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import Batch, Reserved
from queues.runs.slots import HeldSlot, lease_seconds
from queues.runs.stations import ring_queue
from queues.sql import reserve
from queues.sql.sticky import FLOW_COLUMNS, STICKY_COLUMNS
from queues.worker import notes_reader
from queues.worker.notes_reader import WorkerNotes
from queues.worker.slot_runner import BatchProgress

LOST = "the worker died"
REDIS_PATIENCE = timedelta(seconds=5)  # for the notes; then their jobs run again without them
log = structlog.get_logger(__name__)


def recover(
    slot_id: int, now: datetime, lease: HeldLease, *, redis_answers: bool | None = None
) -> bool:
    """Free one slot whose lease is over; False when it is not, or another curator was faster.

    The slot is taken over first, which fences its holder. If a curator dies here, the next one
    finds the same jobs and the same notes.
    """
    if redis_answers is None:
        redis_answers = notes_reader.is_reachable()
    if not redis_answers and _may_wait(slot_id, now):
        return False
    slot, left = _take_over(slot_id, lease)
    if slot is None:
        return False
    held = QueuedJob.objects.filter(slot_id=slot.id, slot_epoch=slot.epoch, flow_id__isnull=False)
    of_flows = list(held.values_list("flow_id", flat=True))
    try:
        _record(slot, notes_reader.read(slot.notes_key) if redis_answers else WorkerNotes(), now)
        _give_back(slot)
    except (RedisError, LeaseLost) as error:  # the slot's new lease runs out, too
        log.warning("recovery_put_off", slot=slot_id, error=str(error))
        return False
    abandoned.roll_back(left, lease.guard)
    if redis_answers:
        notes_reader.forget(slot.notes_key)
    if of_flows:
        flows.wake(slot.queue_id, [flow_id or 0 for flow_id in of_flows], ended=True)
    ring_queue(slot.queue_id, slot.queue)
    return True


def free_stranded(lease: HeldLease) -> int:
    """Free jobs whose slot was taken over between two statements of their holder."""
    with atomic():
        lease.guard()
        jobs = QueuedJob.objects.reserved().exclude(slot_epoch=F("slot__epoch"))
        holds = list(jobs.values_list("slot_id", "slot_epoch").order_by().distinct()[:1000])
        stranded = [HeldSlot(slot, epoch, 0, "", 0, "") for slot, epoch in holds]
        return sum(slot.give_back() for slot in stranded)


def _may_wait(slot_id: int, now: datetime) -> bool:
    """Return whether there may be notes; for a job that is shown as running the row is enough."""
    fresh = Slot.objects.filter(pk=slot_id, leased_until__gt=now - REDIS_PATIENCE)
    return fresh.filter(jobs__in=QueuedJob.objects.reserved()).exists()


def _take_over(slot_id: int, lease: HeldLease) -> tuple[HeldSlot | None, list[int]]:
    """Return the slot with a lease of our own, and the open transactions of its jobs."""
    with atomic():
        lease.guard()
        slots = Slot.objects
        expired = slots.select_for_update().select_related("queue").expired()
        slot = expired.filter(pk=slot_id).first()
        if slot is None:
            return None, []
        epoch = slot.epoch + 1
        slots.filter(pk=slot.pk).update(epoch=epoch, leased_until=from_now(lease_seconds()))
        held = QueuedJob.objects.filter(slot=slot)
        held.update(slot_epoch=epoch)
        left = abandoned.open_of_jobs(held.values_list("pk", flat=True))  # none can begin another
    taken = (slot.pk, epoch, slot.queue_id, slot.queue.name, slot.number, slot.holder)
    return HeldSlot(*taken, slot.notes_key), left


def _record(slot: HeldSlot, notes: WorkerNotes, now: datetime) -> None:
    """Record the results in the notes, and the job that was under way as lost."""
    ended, lost = [], []
    for job in QueuedJob.objects.filter(slot_id=slot.id, slot_epoch=slot.epoch):
        attempt = job.attempt if job.status == Status.PROGRESS else job.attempt + 1
        messages = notes.messages.get((job.pk, attempt))
        begun = notes.begun.get((job.pk, attempt))
        if messages is not None:
            ended.append(_result_from(as_reserved(job, attempt - 1), messages, notes))
        elif begun is not None or job.status == Status.PROGRESS:
            started = notes.moment(begun) if begun is not None else job.started_at
            reserved = as_reserved(job, attempt - 1)
            lost.append(AttemptResult(reserved, Outcome.LOST, started or now, now, error=LOST))
    worker = notes.worker or slot.holder
    if ended:
        outcomes.record_all(slot, sorted(ended, key=lambda each: each.started_at), worker)
        log.info("recorded_from_notes", slot=slot.id, jobs=len(ended))
    for result in lost:
        _lose(slot, result, worker)


def _result_from(
    job: Reserved, messages: list[dict[str, Any]], notes: WorkerNotes
) -> AttemptResult:
    """Make of the child's messages what its worker would have made of them."""
    assert notes.now is not None
    progress = BatchProgress(Batch([job], notes.now, 0), notes.since)
    for message in messages:
        progress.receive(message)
    return progress.results[0]


def _lose(slot: HeldSlot, result: AttemptResult, worker: str) -> None:
    job = result.job
    with atomic():
        if not outcomes.record(slot, [result], worker):
            return
        again = QueuedJob.objects.filter(pk=job.id, status=Status.PENDING)
        again.update(suspect=True)
        record("run.lost", f"job:{job.id}", attempt=job.attempt + 1, holder=slot.holder)


def _give_back(slot: HeldSlot) -> None:
    """Give back what has not begun, to be shown as running before it begins, each alone."""
    with atomic():
        slot.renew()
        jobs = QueuedJob.objects.reserved()
        jobs.filter(slot_id=slot.id, slot_epoch=slot.epoch).update(suspect=True)
        slot.give_back()
        slot.release()


def as_reserved(job: QueuedJob, attempt: int) -> Reserved:
    """Return the row as a reservation after so many attempts."""
    columns = [*reserve.RESERVED, *STICKY_COLUMNS, *FLOW_COLUMNS]
    values = QueuedJob.objects.filter(pk=job.pk).values(*columns).get()
    for name in ("data", "back_off", "success", "failure"):
        values[name] = None if values[name] is None else json.dumps(values[name])
    return Reserved(**{**values, "attempt": attempt})
