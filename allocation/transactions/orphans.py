"""Locks that outlived their transaction: how many there are."""

from allocation.transactions.models import Lock
from allocation.transactions.snapshot import capped


def orphaned_locks() -> int:
    return capped(Lock.objects.orphaned())
