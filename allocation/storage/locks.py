"""Lock the list of available instances, or the placements of some jobs.

Allocators share the lock of the list, and a change takes it alone: after `unavailable` has
returned, no allocation to that instance can appear. PostgreSQL serves waiters in turn, so
that many allocators do not starve the operator.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections
from django.db.transaction import atomic

from allocation.storage import postgresql_sql


@contextmanager
def roster_lock(using: str = "default") -> Iterator[None]:
    """Open a transaction in which nobody else places anything. SQLite has one writer anyway."""
    with atomic(using=using):
        if connections[using].vendor == "postgresql":
            with connections[using].cursor() as cursor:
                cursor.execute(postgresql_sql.EXCLUSIVE)
        yield


@contextmanager
def placement_locks(buckets: list[int], using: str = "default") -> Iterator[None]:
    """Open a transaction in which no placement of jobs in these buckets ends.

    New ones may be made meanwhile: nobody waits for moves but who ends such a job.
    """
    with atomic(using=using):
        if connections[using].vendor == "postgresql":
            with connections[using].cursor() as cursor:
                cursor.execute(postgresql_sql.SHARED_MANY, {"buckets": buckets})
        yield
