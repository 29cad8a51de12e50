"""Marks that change with watched names, backends and live pools: open pages look again then."""

from collections.abc import Hashable

from django.db.models import Max, Sum

from pools.models import BackendChange, Pool, PoolSnapshot


def marks() -> dict[str, Hashable]:
    """Return a value for each kind of subject; it differs after a change."""
    names = Pool.objects.aggregate(Max("looked_up_at"), Max("state_since"), Sum("epoch"))
    return {
        "pool": (
            *names.values(),
            BackendChange.objects.aggregate(last=Max("pk"))["last"],
            PoolSnapshot.objects.aggregate(last=Max("at"))["last"],
        )
    }
