"""Instances and placements as a plain dict, with a constant number of queries.

Instances that a person should look at: dead ones with jobs, and drains that do not get on.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, Sum

from allocation.instances.holds import holding
from allocation.models import Drain, IdNumber, Instance, InstanceLoad, Roster
from allocation.models.id_number import HELD
from atributo_site.core.models.clock import from_now

MOST_TROUBLED = 5  # of each kind
LATE_SECONDS = 60  # after its deadline: the curator needs a moment for what is left then


def instances_in_trouble() -> list[dict[str, Any]]:
    """With two queries; counters and not the jobs tell whether there are any."""
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


LISTED = 50


def snapshot(now: datetime) -> dict[str, Any]:
    """Totals come from counters; those that need a look come first in the list."""
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
    """Who holds one, and how far ids are before the clock: by batches, or because it went back."""
    seen = IdNumber.objects.aggregate(held=Count("pk", filter=HELD), mark=Max("high_water_ms"))
    return {
        "id_numbers_held": seen["held"],
        "id_numbers_ahead_seconds": max(0.0, (seen["mark"] or 0) / 1000 - now.timestamp()),
    }


def described(rows: Sequence[Any], now: datetime) -> list[dict[str, Any]]:
    """Instances with their load; those that drain with what still holds them."""
    held = holding(row.pk for row in rows if row.state == "draining")
    return [describe(row, now, held.get(row.pk, 0)) for row in rows]


def describe(row: Any, now: datetime, held: int) -> dict[str, Any]:
    """One instance with its load and, if it drains, its progress."""
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
    found = getattr(row, "drain", None)
    if found is None:
        return None
    progress = found.progress(row.load, held)
    return {
        "since": found.started_at,
        "deadline_at": found.deadline_at,
        "moved": found.moved,
        "remaining": row.load,
        "fraction": progress.fraction,
        "overdue": progress.is_overdue(now),
        "stuck": found.stuck,
        "done_at": found.done_at,
    }
