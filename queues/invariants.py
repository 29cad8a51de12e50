"""What must always hold in this room: name, sentence, and the rows that break it."""

from collections.abc import Callable
from datetime import timedelta

from django.db.models import Count, F, Max, Q
from django.db.models.functions import Now

from queues.models import Queue, QueuedJob, Run, Slot
from queues.station_invariants import INVARIANTS as FOR_STATIONS

MOST = 20
LATE = timedelta(seconds=10)
Invariant = tuple[str, str, Callable[[], list[str]]]


def too_many_running() -> list[str]:
    live = Count("slots", filter=Q(slots__leased_until__gt=Now()))
    rows = Queue.objects.annotate(live=live).filter(live__gt=F("max_workers"))
    return [f"{row.name}: {row.live} of {row.max_workers}" for row in rows[:MOST]]


def progress_without_lease() -> list[str]:
    """Longer than a sweep takes."""
    rows = QueuedJob.objects.filter(status="progress", slot__leased_until__lt=Now() - LATE)
    return [f"{row.pk}" for row in rows[:MOST]]


def held_by_another_epoch() -> list[str]:
    rows = QueuedJob.objects.filter(status="progress").exclude(slot_epoch=F("slot__epoch"))
    return [f"{row.pk} at epoch {row.slot_epoch}" for row in rows[:MOST]]


def gaps_between_attempts() -> list[str]:
    """Among the newest attempts; old ones may be forgotten with their jobs."""
    newest = Run.objects.order_by("-pk").values("job_id")[:1000]
    rows = Run.objects.filter(job_id__in=list(newest.values_list("job_id", flat=True)))
    jobs = rows.order_by().values("job_id").annotate(n=Count("pk"), last=Max("attempt"))
    return [f"{job['job_id']}" for job in jobs.exclude(n=F("last"))[:MOST]]


def two_running_attempts() -> list[str]:
    running = Run.objects.filter(outcome="running", job__status__in=["complete", "failed"])
    return [f"{run.job_id} attempt {run.attempt}" for run in running[:MOST]]


def expired_slots() -> list[str]:
    rows = Slot.objects.exclude(holder="").filter(leased_until__lt=Now() - LATE)
    return [f"{row.queue_id}/{row.number} of {row.holder}" for row in rows[:MOST]]


INVARIANTS: list[Invariant] = [
    ("I9", "No queue has more live slots than workers allowed.", too_many_running),
    ("I10", "No job is in progress long after its lease ran out.", progress_without_lease),
    ("I10", "No slot is held long after its lease ran out.", expired_slots),
    ("I14", "A running job is held at its slot's epoch.", held_by_another_epoch),
    ("I14", "Attempts are numbered without gaps.", gaps_between_attempts),
    ("I6", "No finished job has an attempt that still runs.", two_running_attempts),
    *FOR_STATIONS,
]
