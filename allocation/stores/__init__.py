"""How placements get into each of the two databases."""

from django.db import connections

from allocation.stores.placing import Ending, Outcome, Placement, Placements, Store
from allocation.stores.postgresql import PostgresStore
from allocation.stores.sqlite import SqliteStore

__all__ = ["Ending", "Outcome", "Placement", "Placements", "Store", "store"]


def store(using: str = "default") -> Store:
    connection = connections[using]
    kind = PostgresStore if connection.vendor == "postgresql" else SqliteStore
    return kind(connection)
