"""Who may look at the list of available instances while it changes.

Allocators share it, whoever changes it has it alone: after `unavailable` has returned no
allocation to that instance can appear. PostgreSQL serves the waiting in turn, so that many
allocators do not starve the operator.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections
from django.db.transaction import atomic

from allocation.storage import postgresql_sql


@contextmanager
def roster_lock(using: str = "default") -> Iterator[None]:
    """A transaction in which nobody places anything. SQLite has one writer anyway."""
    with atomic(using=using):
        if connections[using].vendor == "postgresql":
            with connections[using].cursor() as cursor:
                cursor.execute(postgresql_sql.EXCLUSIVE)
        yield


@contextmanager
def placement_locks(buckets: list[int], using: str = "default") -> Iterator[None]:
    """A transaction that ends or changes placements of jobs in these buckets.

    A new placement of such a job waits, so that its epoch is higher than the old one's.
    """
    with atomic(using=using):
        if connections[using].vendor == "postgresql":
            with connections[using].cursor() as cursor:
                cursor.execute(postgresql_sql.ENDING, {"buckets": buckets})
        yield
