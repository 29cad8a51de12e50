"""Instances that a person should look at: dead ones with jobs, and drains that do not get on."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q

from allocation.models import Instance
from allocation.models.clock import from_now

MOST_TROUBLED = 5  # of each kind
LATE_SECONDS = 60  # after its deadline: the curator needs a moment for what is left then


def troubled() -> list[dict[str, Any]]:
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
