"""What the curator mends for queues: dead workers, lost bells, old jobs; and the push counts."""

from datetime import datetime, timedelta

from django.db.models import Count
from django.db.models.functions import Now, TruncMinute
from django.db.transaction import atomic

from allocation.leases import HeldLease
from allocation.repair import Repair
from queues import outbox
from queues.due import queues_with_work
from queues.hours import sum_hours
from queues.models import (
    HourCount,
    MinuteCount,
    Operation,
    QueuedJob,
    ScriptRun,
    Slot,
)
from queues.noted import is_reachable
from queues.operations import advance
from queues.recovery import free_stranded, recover
from queues.retention import BATCH, forget_old_attempts, forget_old_jobs
from queues.ring import ring
from queues.station_repairs import REPAIRS as FOR_STATIONS

FEW = 10  # operations, each with up to a thousand refusals
MINUTES_KEPT = timedelta(days=400)
OPERATIONS_KEPT = timedelta(days=90)
SCRIPT_RUNS_KEPT = timedelta(days=1)


def recover_dead_workers(now: datetime, lease: HeldLease) -> int:
    expired = list(Slot.objects.using(lease.using).expired().values_list("pk", flat=True)[:BATCH])
    answers = is_reachable() if expired else False  # asked once: each wait for Redis is long
    recovered = sum(recover(slot, now, lease, redis_answers=answers) for slot in expired)
    return recovered + free_stranded(lease)


def ring_for_due_jobs(now: datetime, lease: HeldLease) -> int:
    """Delayed jobs whose time has come, and bells that Redis has lost. Nothing is mended."""
    for queue_id, name, max_workers in queues_with_work(using=lease.using):
        due = QueuedJob.objects.using(lease.using).filter(queue_id=queue_id).due().shared()
        waiting = len(due.values_list("pk")[:max_workers])
        ring(queue_id, name, waiting, using=lease.using)
    return 0


def settle_held_pushes(now: datetime, lease: HeldLease) -> int:
    """Pushes whose transaction has ended while nobody was left to tell the queue."""
    with atomic(using=lease.using):
        lease.guard()
        return outbox.settle()


def count_pushes(now: datetime, lease: HeldLease) -> int:
    """Fill in what was pushed in the last minutes: counting at each push would queue up pushers."""
    since = now.replace(second=0, microsecond=0) - timedelta(minutes=2)
    jobs = QueuedJob.objects.using(lease.using).visible().filter(created_at__gte=since)
    by_minute = jobs.order_by().annotate(minute=TruncMinute("created_at"))
    counts = by_minute.values("queue_id", "minute").annotate(pushed=Count("pk"))
    rows = [MinuteCount(**count) for count in counts]
    with atomic(using=lease.using):
        lease.guard()
        MinuteCount.objects.using(lease.using).bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["queue", "minute"],
            update_fields=["pushed"],
        )
    return 0


def sum_hours_up(now: datetime, lease: HeldLease) -> int:
    """Nothing is mended."""
    sum_hours(now, lease)
    return 0


def forget_old_minutes(now: datetime, lease: HeldLease) -> int:
    with atomic(using=lease.using):
        lease.guard()
        old = MinuteCount.objects.using(lease.using).filter(minute__lt=Now() - MINUTES_KEPT)
        pks = list(old.values_list("pk", flat=True)[:BATCH])
        HourCount.objects.using(lease.using).filter(hour__lt=Now() - MINUTES_KEPT).delete()
        return MinuteCount.objects.using(lease.using).filter(pk__in=pks).delete()[0]


def forget_old_operations(now: datetime, lease: HeldLease) -> int:
    with atomic(using=lease.using):
        lease.guard()
        operations = Operation.objects.using(lease.using)
        old = operations.filter(ended_at__lt=Now() - OPERATIONS_KEPT).order_by("pk")
        return operations.filter(pk__in=list(old.values_list("pk", flat=True)[:FEW])).delete()[0]


def forget_old_script_runs(now: datetime, lease: HeldLease) -> int:
    with atomic(using=lease.using):
        lease.guard()
        runs = ScriptRun.objects.using(lease.using)
        old = runs.filter(created_at__lt=Now() - SCRIPT_RUNS_KEPT).order_by("created_at")
        return runs.filter(pk__in=list(old.values_list("pk", flat=True)[:BATCH])).delete()[0]


REPAIRS = [
    Repair("dead workers", recover_dead_workers, every_seconds=0.5, budget=BATCH),
    Repair("bells", ring_for_due_jobs, every_seconds=0.5),
    *FOR_STATIONS,
    Repair("held pushes", settle_held_pushes, every_seconds=0.5),
    Repair("push counts", count_pushes, every_seconds=10),
    Repair("old jobs", forget_old_jobs, every_seconds=30, budget=BATCH),
    Repair("old attempts", forget_old_attempts, every_seconds=600, budget=BATCH),
    Repair("hours", sum_hours_up, every_seconds=60),
    Repair("old minutes", forget_old_minutes, every_seconds=3600, budget=BATCH),
    Repair("operations", advance, every_seconds=0.5),
    Repair("old runs of scripts", forget_old_script_runs, every_seconds=600, budget=BATCH),
    Repair("old operations", forget_old_operations, every_seconds=3600, budget=FEW),
]
