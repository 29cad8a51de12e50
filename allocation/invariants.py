"""The invariants of allocation: name, sentence, and the rows that break it."""

from collections.abc import Callable

from django.db.models import Count, Exists, F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from allocation.logic.job_ids import END_MS, FIRST_MS
from allocation.models import Allocation, IdNumber, Instance, InstanceLoad, PastAllocation

MOST = 20
Invariant = tuple[str, str, Callable[[], list[str]]]


def placed_after_unavailable() -> list[str]:
    """Compare epochs: placements and changes of availability get them from one sequence."""
    late = Allocation.objects.filter(instance__available=False, epoch__gt=F("instance__epoch"))
    return [f"{row.pk} on {row.instance_id} at epoch {row.epoch}" for row in late[:MOST]]


def without_instance() -> list[str]:
    known = Instance.objects.filter(pk=OuterRef("instance_id")).values("pk")
    rows = Allocation.objects.annotate(found=Subquery(known)).filter(found__isnull=True)
    return [f"{row.pk} on {row.instance_id}" for row in rows[:MOST]]


def moved_without_trace() -> list[str]:
    """Find placements that are older than an ended placement of the same job."""
    past = PastAllocation.objects.filter(job_id=OuterRef("pk"))
    younger = past.filter(epoch__gte=OuterRef("epoch")).values("epoch")[:1]
    rows = Allocation.objects.annotate(later=Subquery(younger)).filter(later__isnull=False)
    return [f"{row.pk} at epoch {row.epoch}" for row in rows[:MOST]]


def miscounted() -> list[str]:
    jobs = Allocation.objects.filter(instance=OuterRef("pk")).order_by().values("instance")
    parts = InstanceLoad.objects.filter(instance=OuterRef("pk")).order_by().values("instance")
    rows = Instance.objects.annotate(
        jobs=Coalesce(Subquery(jobs.annotate(n=Count("pk")).values("n")), 0),
        counted=Coalesce(Subquery(parts.annotate(n=Sum("jobs")).values("n")), 0),
    ).exclude(jobs=F("counted"))
    return [f"{row.pk}: {row.counted} counted, {row.jobs} there" for row in rows[:MOST]]


def over_capacity() -> list[str]:
    """Find full instances that got more jobs; a capacity that was made smaller breaks nothing."""
    since = Allocation.objects.filter(instance=OuterRef("pk"), epoch__gt=OuterRef("epoch"))
    full = Instance.objects.with_load().filter(capacity__isnull=False, load__gt=F("capacity"))
    rows = full.filter(Exists(since))
    return [f"{row.pk}: {row.load} of {row.capacity}" for row in rows[:MOST]]


def impossible_marks() -> list[str]:
    used = IdNumber.objects.exclude(high_water_ms=0)
    rows = used.exclude(high_water_ms__gte=FIRST_MS, high_water_ms__lt=END_MS)
    return [f"number {row.pk}: {row.high_water_ms}" for row in rows[:MOST]]


INVARIANTS: list[Invariant] = [
    (
        "placed after unavailable",
        "No job id is placed on an instance after it became unavailable.",
        placed_after_unavailable,
    ),
    ("without instance", "Every placement's instance exists.", without_instance),
    (
        "moved without trace",
        "A job id changes its instance only after its old placement has ended.",
        moved_without_trace,
    ),
    ("miscounted", "The counters of an instance say how many job ids it has.", miscounted),
    ("over capacity", "No job id is placed on an instance that is full.", over_capacity),
    ("impossible marks", "The marks of job ids lie between 2010 and 2099.", impossible_marks),
]
