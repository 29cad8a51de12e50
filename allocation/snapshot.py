"""Instances and placements as a plain dict, with a constant number of queries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Sum

from allocation.holds import holding
from allocation.models import Drain, IdNumber, Instance, InstanceLoad, Roster
from allocation.models.id_number import HELD
from allocation.trouble import troubled

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
        "troubled": troubled(),
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
