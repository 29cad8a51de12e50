"""The invariants of allocation: name, sentence, and the rows that break it."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import (
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Now

from allocation.instances.holds import OPEN_CLAIM
from allocation.logic.job_ids import END_MS, FIRST_MS
from allocation.models import (
    Allocation,
    Drain,
    Hold,
    IdNumber,
    Instance,
    InstanceLoad,
    PastAllocation,
    Roster,
)
from atributo_site.core.models.pieces import MOST, InPieces

FEW = 10  # instances at a time: each may have very many jobs
Rows = QuerySet[Any]
Invariant = tuple[str, str, Callable[[], list[str]] | InPieces]


def placed_after_unavailable(rows: Rows) -> list[str]:
    """Compare epochs: placements and changes of availability get them from one sequence."""
    late = rows.filter(instance__available=False, epoch__gt=F("instance__epoch"))
    return [f"{row.pk} on {row.instance_id} at epoch {row.epoch}" for row in late[:MOST]]


def without_instance(rows: Rows) -> list[str]:
    known = Instance.objects.filter(pk=OuterRef("instance_id"))
    lost = rows.filter(~Exists(known))
    return [f"{row.pk} on {row.instance_id}" for row in lost[:MOST]]


def moved_without_trace(rows: Rows) -> list[str]:
    """Find placements that are older than an ended placement of the same job."""
    past = PastAllocation.objects.filter(job_id=OuterRef("pk"), epoch__gte=OuterRef("epoch"))
    return [f"{row.pk} at epoch {row.epoch}" for row in rows.filter(Exists(past))[:MOST]]


def miscounted(instances: Rows) -> list[str]:
    jobs = Allocation.objects.filter(instance=OuterRef("pk")).order_by().values("instance")
    parts = InstanceLoad.objects.filter(instance=OuterRef("pk")).order_by().values("instance")
    rows = instances.annotate(
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


def roster_miscounted() -> list[str]:
    """Compare what allocators and dashboards read instead of counting."""
    every = Instance.objects.order_by().values(one=Value(1)).annotate(n=Count("pk"))
    counts = {"instances": every, "available": every.filter(available=True)}
    there = {
        f"{name}_there": Coalesce(Subquery(rows.values("n")), 0) for name, rows in counts.items()
    }
    right = Q(instances=F("instances_there"), available=F("available_there"))
    rows: Any = Roster.objects.annotate(**there).exclude(right).values()
    return [
        f"roster: {row['instances']} counted, {row['instances_there']} there;"
        f" {row['available']} counted as available, {row['available_there']} are"
        for row in rows
    ]


def ahead_of_the_count(rows: Rows) -> list[str]:
    """Find epochs that were never given out, and would be given out a second time."""
    ahead = rows.filter(epoch__gt=_last_epoch())
    return [f"{row.pk} on {row.instance_id} at epoch {row.epoch}" for row in ahead[:MOST]]


def instances_ahead_of_the_count() -> list[str]:
    rows = Instance.objects.filter(epoch__gt=_last_epoch())
    return [f"{row.pk} at epoch {row.epoch}" for row in rows[:MOST]]


def _last_epoch() -> Any:
    """Read it in the statement that reads the rows: the count goes on between two."""
    if connection.vendor == "postgresql":
        return RawSQL("(SELECT last_value FROM allocation_epoch)", [], IntegerField())
    return Subquery(Roster.objects.values("epoch"))


def drained_and_available() -> list[str]:
    rows = Drain.objects.filter(instance__available=True)
    return [f"{row.pk} drains since {row.started_at}" for row in rows[:MOST]]


def drained_and_occupied() -> list[str]:
    """Find drains that are done though a key is left, or a claim that was open before."""
    this = {"instance": OuterRef("pk")}
    keys = Exists(Allocation.objects.filter(**this))
    claims = Hold.objects.filter(**this, kind=OPEN_CLAIM, since__lt=OuterRef("done_at"))
    rows = Drain.objects.filter(done_at__isnull=False).annotate(
        keys=keys, claims=Exists(claims.filter(until__gt=Now()))
    )
    left = rows.filter(Q(keys=True) | Q(claims=True))
    return [f"{row.pk}: {'keys' if row.keys else 'claims'} are left" for row in left[:MOST]]


INVARIANTS: list[Invariant] = [
    (
        "placed after unavailable",
        "No key is placed on an instance after it became unavailable.",
        InPieces(Allocation, placed_after_unavailable),
    ),
    (
        "without instance",
        "Every placement's instance exists.",
        InPieces(Allocation, without_instance),
    ),
    (
        "moved without trace",
        "A key changes its instance only after its old placement has ended.",
        InPieces(Allocation, moved_without_trace),
    ),
    (
        "miscounted",
        "The counters of an instance match the number of its keys.",
        InPieces(Instance, miscounted, FEW),
    ),
    ("over capacity", "No key is placed on an instance that is full.", over_capacity),
    ("impossible marks", "The marks of job ids lie between 2010 and 2099.", impossible_marks),
    (
        "roster miscounted",
        "The roster says how many instances there are, and how many are available.",
        roster_miscounted,
    ),
    (
        "epoch ahead",
        "No placement has an epoch that was never issued.",
        InPieces(Allocation, ahead_of_the_count),
    ),
    (
        "instance epoch ahead",
        "No instance has an epoch that was never issued.",
        instances_ahead_of_the_count,
    ),
    (
        "drained and available",
        "No instance that is available is drained.",
        drained_and_available,
    ),
    (
        "drained and occupied",
        "No drain is done while keys or open claims are left.",
        drained_and_occupied,
    ),
]
