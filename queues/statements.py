"""Hot statements: on PostgreSQL parsed and planned once per connection, not at every call."""

from typing import Any

import psycopg
from django.db import connections


class Prepared(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **_: Any) -> "Prepared":
        return super().execute(query, params, prepare=True)


def hot_cursor(using: str = "default") -> Any:
    """Django's cursor, which on PostgreSQL prepares whatever it executes."""
    connection: Any = connections[using]
    if connection.vendor != "postgresql":
        return connection.cursor()
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    raw = connection.connection
    raw.prepare_threshold = 0  # Django says None, which is «never»; its own cursors cannot
    cursor = Prepared(raw)
    with connection.wrap_database_errors:
        return connection._prepare_cursor(cursor)


def forget_plans(using: str = "default") -> None:
    """Plan anew: the tables may have grown since."""
    connection = connections[using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("DISCARD PLANS")
