"""Marks that change with the placements and instances, so that open pages know when to look."""

from collections.abc import Hashable

from django.db.models import Count, Max, Q, Sum

from allocation.models import Allocation, Drain, PastAllocation, Rebalance, Roster


def marks() -> dict[str, Hashable]:
    """Return a value for each kind of subject; it differs after a change."""
    roster = Roster.objects.values_list("version", "instances", "available").first()
    placed = Allocation.objects.aggregate(last=Max("epoch"))["last"]
    ended = PastAllocation.objects.aggregate(last=Max("pk"))["last"]
    return {
        "allocation": (placed, ended),
        "instance": (roster, _drains()),
        "rebalance": Rebalance.objects.values_list("looked_at", "moved", "done_at").first(),
    }


def _drains() -> Hashable:
    stuck = Count("pk", filter=Q(stuck=True))
    sums = Drain.objects.running().aggregate(n=Count("pk"), moved=Sum("moved"), stuck=stuck)
    return tuple(sums.values())
