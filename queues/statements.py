"""Hot statements: on PostgreSQL parsed and planned once per connection, not at every call."""

from typing import Any

import psycopg
from django.db import connections
from psycopg._preparing import PrepareManager


class Kept(PrepareManager):
    """Psycopg forgets all prepared statements of the session at a roll back: ours and others'.

    The server keeps them, and so do we: no statement here depends on a table that is made anew.
    """

    prepare_threshold = 0  # Django says None, which is «never»

    def clear(self) -> bool:
        return False


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
    if not isinstance(raw._prepared, Kept):
        raw._prepared = Kept()  # Django's own cursors bind in the client and never prepare
    cursor = Prepared(raw)
    with connection.wrap_database_errors:
        return connection._prepare_cursor(cursor)


def forget_plans(using: str = "default") -> None:
    """Plan anew: the tables may have grown since."""
    connection = connections[using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("DISCARD PLANS")
