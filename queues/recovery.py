"""Recovery: what a worker held when it died goes back, and the run it had begun is lost."""

import json
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.events import record
from allocation.leases import HeldLease
from queues import left_behind, sql
from queues.callbacks import push_callbacks
from queues.dialect import dialect
from queues.logic.lifecycle import Outcome, Status
from queues.models import QueuedJob, Run, Slot
from queues.reserved import Reserved
from queues.settle import Ending, settle
from queues.station_work import ring_queue

LOST = "the worker died"


def recover(slot_id: int, now: datetime, lease: HeldLease) -> bool:
    """Free one slot whose lease has run out; False when its holder or another was faster."""
    using = lease.using
    with atomic(using=using):
        lease.guard()
        slots = Slot.objects.using(using)
        slot = (
            slots.select_for_update().select_related("queue").expired().filter(pk=slot_id).first()
        )
        if slot is None:
            return False
        slots.filter(pk=slot.pk).update(
            holder="", leased_until=None, rung_at=None, epoch=F("epoch") + 1
        )
        held = QueuedJob.objects.using(using).filter(slot=slot)
        jobs = list(held.values_list("pk", flat=True))
        held.filter(status=Status.PENDING).update(slot=None, slot_epoch=None, suspect=True)
        for job in held.filter(status=Status.PROGRESS):
            _lose(job, slot.holder, now, using)
        left = left_behind.of_jobs(jobs)  # none of them can begin another any more
    left_behind.roll_back(left, lease.guard)
    _ring(slot, using)
    return True


def free_stranded(lease: HeldLease) -> int:
    """Jobs whose slot was taken over between two statements of their holder."""
    using = lease.using
    with atomic(using=using):
        lease.guard()
        stranded = (
            QueuedJob.objects.using(using)
            .filter(slot__isnull=False, status=Status.PENDING)
            .exclude(slot_epoch=F("slot__epoch"))
        )
        return (
            QueuedJob.objects.using(using)
            .filter(
                pk__in=list(stranded.values_list("pk", flat=True)[:1000]), status=Status.PENDING
            )
            .exclude(slot_epoch=F("slot__epoch"))
            .update(slot=None, slot_epoch=None)
        )


def _lose(job: QueuedJob, holder: str, now: datetime, using: str) -> None:
    ending = Ending(
        as_reserved(job, job.attempt - 1), Outcome.LOST, job.started_at or now, now, error=LOST
    )
    settled = settle(ending, dialect(using))
    row, step = settled.row, ending.next()
    changed = (
        QueuedJob.objects.using(using)
        .filter(pk=job.pk, attempt=job.attempt, status=Status.PROGRESS, slot_epoch=job.slot_epoch)
        .update(
            status=step.status,
            runs=step.counts.runs,
            run_failures=step.counts.run_failures,
            lost=step.counts.lost,
            due_at=step.due_at or job.due_at,
            ended_at=None if step.status is Status.PENDING else Now(),
            error=LOST,
            fingerprint=row["fingerprint"],
            slot=None,
            slot_epoch=None,
            suspect=True,
        )
    )
    if not changed:
        return
    Run.objects.using(using).filter(job_id=job.pk, attempt=job.attempt).update(
        outcome=Outcome.LOST, ended_at=Now(), error=LOST
    )
    record("run.lost", f"job:{job.pk}", using=using, attempt=job.attempt, holder=holder)
    push_callbacks([settled], using)


def as_reserved(job: QueuedJob, attempt: int) -> Reserved:
    """The row in the words of a reservation after so many attempts."""
    values = QueuedJob.objects.filter(pk=job.pk).values(*sql.RESERVED).get()
    for name in ("data", "back_off", "success", "failure"):
        values[name] = None if values[name] is None else json.dumps(values[name])
    return Reserved(**{**values, "attempt": attempt})


def _ring(slot: Slot, using: str) -> None:
    ring_queue(slot.queue_id, slot.queue.name, using=using)
