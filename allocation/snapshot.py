"""Describe instances and placements as plain dicts, with a constant number of queries."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, Sum

from allocation.instances.holds import holding
from allocation.models import Drain, IdNumber, Instance, InstanceLoad, Roster
from allocation.models.id_number import HELD
from atributo_site.core.models.clock import from_now

LISTED = 50
MOST_TROUBLED = 5  # of each kind
LATE_SECONDS = 60  # after its deadline, since the curator needs a moment for the rest


def snapshot(now: datetime) -> dict[str, Any]:
    """Return totals from counters, and a list that starts with the instances in trouble."""
    roster = Roster.objects.first()
    rows = Instance.objects.select_related("drain").with_load()
    listed = list(rows.order_by("available", "id")[:LISTED])
    total = roster.instances if roster else 0
    return {
        "instances": described(listed, now),
        "instances_total": total,
        "instances_available": roster.available if roster else 0,
        "instances_left_out": max(0, total - len(listed)),
        "draining": Drain.objects.running().count(),
        "troubled": instances_in_trouble(),
        "jobs_allocated": InstanceLoad.objects.aggregate(n=Sum("jobs"))["n"] or 0,
        **id_numbers(now),
    }


def id_numbers(now: datetime) -> dict[str, float]:
    """Return how many are held, and how far ids are before the clock."""
    seen = IdNumber.objects.aggregate(held=Count("pk", filter=HELD), mark=Max("high_water_ms"))
    return {
        "id_numbers_held": seen["held"],
        "id_numbers_ahead_seconds": max(0.0, (seen["mark"] or 0) / 1000 - now.timestamp()),
    }


def described(rows: Sequence[Any], now: datetime) -> list[dict[str, Any]]:
    """Describe instances with their load, and draining ones with what still holds them."""
    held = holding(row.pk for row in rows if row.state == "draining")
    return [describe(row, now, held.get(row.pk, 0)) for row in rows]


def describe(row: Any, now: datetime, held: int) -> dict[str, Any]:
    """Describe one instance with its load and, if it drains, its progress."""
    return {
        "id": row.pk,
        "state": row.state,
        "source": row.source,
        "load": row.load,
        "capacity": row.capacity,
        "weight": row.weight,
        "labels": row.labels,
        "reason": row.reason,
        "changed_at": row.changed_at,
        "lease_until": row.lease_until,
        "drain": _drain(row, now, held),
    }


def _drain(row: Any, now: datetime, held: int) -> dict[str, Any] | None:
    drain = getattr(row, "drain", None)
    if drain is None:
        return None
    progress = drain.progress(row.load, held)
    return {
        "since": drain.started_at,
        "deadline_at": drain.deadline_at,
        "moved": drain.moved,
        "remaining": row.load,
        "fraction": progress.fraction,
        "overdue": progress.is_overdue(now),
        "stuck": drain.stuck,
        "done_at": drain.done_at,
    }


def instances_in_trouble() -> list[dict[str, Any]]:
    """Return dead instances with jobs and late drains, by two queries on the counters."""
    return [*_facts(dead_with_jobs()), *_facts(late_drains())]


def dead_with_jobs() -> Any:
    rows = Instance.objects.filter(is_dead=True, drain__isnull=True)
    return rows.with_load().filter(load__gt=0).order_by("id")[:MOST_TROUBLED]


def late_drains() -> Any:
    late = Q(drain__stuck=True) | Q(drain__deadline_at__lte=from_now(-LATE_SECONDS))
    rows = Instance.objects.draining().filter(late).select_related("drain")
    return rows.with_load().filter(load__gt=0).order_by("drain__started_at")[:MOST_TROUBLED]


def _facts(rows: Iterable[Any]) -> list[dict[str, Any]]:
    return [{"id": row.pk, "trouble": _trouble(row), "load": row.load} for row in rows]


def _trouble(row: Any) -> str:
    if row.state == "dead":
        return "dead"
    return "stuck" if row.drain.stuck else "overdue"
