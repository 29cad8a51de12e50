"""How placements are written on each database: one class per database, and the SQL that it runs."""

from django.db import connections

from allocation.storage.base import Placement, PlacementResult, Placements, Removal, Store
from allocation.storage.postgresql import PostgresStore
from allocation.storage.sqlite import SqliteStore

__all__ = ["Removal", "PlacementResult", "Placement", "Placements", "Store", "store"]


def store(using: str = "default") -> Store:
    connection = connections[using]
    kind = PostgresStore if connection.vendor == "postgresql" else SqliteStore
    return kind(connection)
