"""Pools of this process give up their idle connections to instances that take no new work."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from allocation.models import Instance
from pools.models import Backend

if TYPE_CHECKING:
    from pools.net.pool import PoolShell


def avoid_drained(pools: Sequence["PoolShell"]) -> None:
    """Restored, an instance is connected to again."""
    known = {key for pool in pools for key in pool.resolver.list()}
    drained = frozenset(_drained(known)) if known else frozenset()
    for pool in pools:
        pool.avoid(drained & pool.resolver.list().keys())


def _drained(keys: set[str]) -> list[str]:
    unavailable = Instance.objects.filter(pk=OuterRef("instance_id"), available=False)
    rows = Backend.objects.filter(Exists(unavailable), key__in=list(keys))
    return list(rows.values_list("key", flat=True))
