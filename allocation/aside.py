"""A transaction beside the caller's: what it stores stays when the caller rolls back."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections


@contextmanager
def aside(using: str) -> Iterator[str]:
    """The name of a connection without an open transaction.

    SQLite has one writer, who would wait for itself: there it is the caller's own.
    """
    connection = connections[using]
    if not connection.in_atomic_block or connection.vendor == "sqlite":
        yield using
        return
    alias = f"{using}-{uuid.uuid4().hex}"
    connections[alias] = connection.copy(alias)
    try:
        yield alias
    finally:
        connections[alias].close()
        del connections[alias]
