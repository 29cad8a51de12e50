"""Django's connection: a statement that finds the file locked waits for its turn.

The ORM, hot statements and a room's raw calls all get their cursors here. SQLite's own time-out is
zero: its way of waiting starves some writers, and it knows nothing of the time that is left.
"""

import re
import sqlite3
import time
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, TypeVar

from django.db.backends.sqlite3 import base

from atributo_site.core.availability.patience import deadline
from atributo_site.core.sqlite3.line import Line

OVERTAKING_SECONDS = 0.02  # while the first waits no longer, newcomers may try: this saves pauses
PAUSE_SECONDS = 0.0005  # between two looks, for each one that comes first
LONGEST_PAUSE_SECONDS = 0.02
STRAY_SECONDS = 0.25  # everybody asks this often: the first in line may have been stopped
T = TypeVar("T")
WRITES = re.compile(r"\b(?:INSERT|UPDATE|DELETE|REPLACE|IMMEDIATE)\b", re.IGNORECASE)
NO_LINE = Line(":memory:")  # who has begun to write waits for readers only


def in_turn(
    line: Line,
    attempt: Callable[[], T],
    is_busy: Callable[[Exception], bool],
    end: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> T:
    """Make the attempt, again while it finds the file locked, for the last time at the end.

    First come, first served. SQLite alone has no order: a writer that finds the file locked sleeps
    and looks again, the longer it waits the more rarely, while others come and go. Here only the
    first in line asks SQLite. When it has waited for a moment it also closes the gate, and
    newcomers join the line before they ask. SQLite's own lock stays the only one that
    protects rows.
    """
    line.join()
    try:
        now = asked = began = monotonic()
        while True:
            before = line.before()
            if not before or now >= end or now - asked >= STRAY_SECONDS:
                asked = now
                try:
                    return attempt()
                except Exception as error:
                    if now >= end or not is_busy(error):
                        raise
            if not before and now - began >= OVERTAKING_SECONDS:
                line.close_gate()
            sleep(max(0.0, min(_pause(before), end - now)))
            now = monotonic()
    finally:
        line.leave()


def _pause(before: int) -> float:
    return min(PAUSE_SECONDS * max(before, 1), LONGEST_PAUSE_SECONDS)


class Connection(sqlite3.Connection):
    def __init__(self, database: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(database, *args, **kwargs)
        self.line = Line(str(database))

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(factory or Cursor)

    def execute(self, statement: str, parameters: Any = ()) -> Any:
        return self.cursor().execute(statement, parameters)

    def executemany(self, statement: str, rows: Iterable[Any]) -> Any:
        return self.cursor().executemany(statement, rows)

    def commit(self) -> None:
        try:
            super().commit()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            in_turn(NO_LINE, super().commit, is_busy, deadline())

    def close(self) -> None:
        super().close()
        self.line.close()

    def wait(self, attempt: Callable[[], T], *, in_line: bool) -> T:
        return in_turn(self.line if in_line else NO_LINE, attempt, is_busy, deadline())


class Cursor(sqlite3.Cursor):
    connection: Connection

    def execute(self, statement: str, parameters: Any = ()) -> Any:
        connection = self.connection
        begins = not connection.in_transaction and is_write(statement)
        if not begins or not connection.line.is_gate_closed():
            try:
                return super().execute(statement, parameters)
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
        return connection.wait(partial(super().execute, statement, parameters), in_line=begins)

    def executemany(self, statement: str, rows: Iterable[Any]) -> Any:
        """Write all rows or none: after some of them the statement could not be repeated."""
        if self.connection.in_transaction or not is_write(statement):
            return super().executemany(statement, rows)
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            super().executemany(statement, rows)
            self.connection.commit()
        except BaseException:  # whatever it is, the lock must go
            self.connection.rollback()
            raise
        return self


class DjangoCursor(base.SQLiteCursorWrapper, Cursor):
    """Django's cursor, which translates placeholders, on top of ours."""


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "factory": Connection, "timeout": 0}

    def create_cursor(self, name: str | None = None) -> DjangoCursor:
        return self.connection.cursor(factory=DjangoCursor)


@lru_cache(maxsize=512)
def is_write(statement: str) -> bool:
    return WRITES.search(statement) is not None


def is_busy(error: Exception) -> bool:
    """Whether another connection holds what the statement needs."""
    code = getattr(error, "sqlite_errorcode", 0)
    return isinstance(error, sqlite3.OperationalError) and code & 0xFF == sqlite3.SQLITE_BUSY
