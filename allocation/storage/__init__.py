"""Store placements: one class per database, and the SQL that it runs."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import connections

from allocation.storage.base import (
    Deallocation,
    Placement,
    PlacementResult,
    Placements,
    Relocation,
    Store,
)

__all__ = [
    "Deallocation",
    "Placement",
    "PlacementResult",
    "Placements",
    "Relocation",
    "Store",
    "store",
]


def store(using: str = "default") -> Store:
    connection = connections[using]
    return _store_of(connection.vendor)(connection)


@cache
def _store_of(vendor: str) -> Callable[[Any], Store]:
    """Load only what belongs to the database in use: psycopg is as large as our own code."""
    if vendor == "postgresql":
        from allocation.storage.postgresql import PostgresStore

        return PostgresStore
    from allocation.storage.sqlite import SqliteStore

    return SqliteStore
