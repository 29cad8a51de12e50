"""Hot statements: on PostgreSQL parsed and planned once per connection, not at every call.

The few words in which SQLite and PostgreSQL differ.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from django.db import connections
from psycopg._preparing import PrepareManager


@dataclass(frozen=True)
class Dialect:
    vendor: str
    now: str  # the statement's moment
    later: str  # the moment some seconds from then; takes seconds() as its parameter
    minute: str  # the minute of that moment
    lock: str  # take rows that nobody else is taking

    def seconds(self, value: float) -> float | str:
        return value if self.vendor == "postgresql" else f"{value:+.3f} seconds"

    def moment(self, value: datetime | None) -> str | None:
        """A moment as a parameter: SQLite keeps texts, all in UTC and of one format."""
        if value is None:
            return None
        text = value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        return f"{text}+00" if self.vendor == "postgresql" else text


POSTGRESQL = Dialect(
    "postgresql",
    "statement_timestamp()",
    "statement_timestamp() + make_interval(secs => %s)",
    "date_trunc('minute', statement_timestamp())",
    "FOR UPDATE SKIP LOCKED",
)
SQLITE = Dialect(
    "sqlite",
    "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')",
    "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', %s)",
    "strftime('%%Y-%%m-%%d %%H:%%M:00', 'now')",
    "",
)


def dialect(using: str = "default") -> Dialect:
    return POSTGRESQL if connections[using].vendor == "postgresql" else SQLITE


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
