"""Store placements: one class per database, and the SQL that it runs."""

from django.db import connections

from allocation.storage.base import Deallocation, Placement, PlacementResult, Placements, Store
from allocation.storage.postgresql import PostgresStore
from allocation.storage.sqlite import SqliteStore

__all__ = ["Deallocation", "PlacementResult", "Placement", "Placements", "Store", "store"]


def store(using: str = "default") -> Store:
    connection = connections[using]
    kind = PostgresStore if connection.vendor == "postgresql" else SqliteStore
    return kind(connection)
