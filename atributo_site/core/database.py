"""The one database layer: what SQLite and PostgreSQL say differently, and how to run hot SQL.

A hot statement is SQL with named parameters, `%(name)s`. PostgreSQL prepares it once per
connection, since to plan it anew often costs more than to run it. This is done by PREPARE and
EXECUTE: what psycopg prepares itself, it forgets at every roll back.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import md5
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db import connections
from django.db.transaction import atomic
from psycopg._preparing import PrepareManager

PARAMETER = re.compile(r"%\((\w+)\)s")
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Dialect:
    vendor: str
    now: str  # the moment at which the statement began; an index can be searched for it
    clock: str  # the moment at which this is read, later than `now` if the statement waited
    minute: str  # the minute of `now`
    lock: str  # take rows that nobody else is taking
    lock_row: str  # hold a row; SQLite locks the whole database instead
    later: str = ""  # TRANSITION

    def seconds(self, value: float) -> float | str:  # TRANSITION
        return value if self.vendor == "postgresql" else f"{value:+.3f} seconds"

    def in_seconds(self, parameter: str, *, since: str = "now") -> str:
        """The moment so many seconds after `now` or `clock`; they may be less than none."""
        if self.vendor == "postgresql":
            return f"{getattr(self, since)} + make_interval(secs => %({parameter})s)"
        return f"strftime('{FORMAT}', 'now', %({parameter})s || ' seconds')"

    def json(self, parameter: str) -> str:
        return f"%({parameter})s::jsonb" if self.vendor == "postgresql" else f"%({parameter})s"

    def moment(self, value: datetime | None) -> str | None:
        """A moment as a parameter: SQLite keeps texts, all in UTC and of one format."""
        if value is None:
            return None
        text = value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        return f"{text}+00" if self.vendor == "postgresql" else text


FORMAT = "%%Y-%%m-%%d %%H:%%M:%%f"
POSTGRESQL = Dialect(
    vendor="postgresql",
    now="statement_timestamp()",
    clock="clock_timestamp()",
    minute="date_trunc('minute', statement_timestamp())",
    lock="FOR UPDATE SKIP LOCKED",
    lock_row="FOR NO KEY UPDATE",
    later="statement_timestamp() + make_interval(secs => %s)",
)
SQLITE = Dialect(
    vendor="sqlite",
    now=f"strftime('{FORMAT}', 'now')",
    clock=f"strftime('{FORMAT}', 'now')",
    minute="strftime('%%Y-%%m-%%d %%H:%%M:00', 'now')",
    lock="",
    lock_row="",
    later="strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', %s)",
)


def dialect(using: str = "default") -> Dialect:
    return POSTGRESQL if connections[using].vendor == "postgresql" else SQLITE


@dataclass(frozen=True)
class Result:
    rows: list[Row]
    count: int  # of rows that were returned or changed

    @property
    def first(self) -> Row | None:
        return self.rows[0] if self.rows else None


def execute(statement: str, parameters: Mapping[str, Any], using: str = "default") -> Result:
    """Run one hot statement."""
    return execute_together([statement], parameters, using)


def execute_together(
    statements: Sequence[str], parameters: Mapping[str, Any], using: str = "default"
) -> Result:
    """Run hot statements in one database transaction, on PostgreSQL in one message.

    The result is that of the last one. Each takes those of the parameters that it names.
    """
    connection = connections[using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            _prepare(statements, cursor)
            cursor.execute(_message(tuple(statements)), parameters)
            while cursor.nextset():
                pass
            return _result(cursor)
    if len(statements) > 1:
        with atomic(using=using):
            return [execute(each, parameters, using) for each in statements][-1]
    with connection.cursor() as cursor:
        cursor.execute(statements[0], parameters)
        return _result(cursor)


def forget_plans(using: str = "default") -> None:
    """Plan anew: the tables may have grown since."""
    connection = connections[using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("DISCARD PLANS")


def _result(cursor: Any) -> Result:
    rows = cursor.fetchall() if cursor.description else []
    return Result(rows, cursor.rowcount)


_prepared: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()  # by connection of psycopg


def _prepare(statements: Sequence[str], cursor: Any) -> None:
    known = _prepared.setdefault(cursor.connection, set())
    for statement in statements:
        name = _name(statement)
        if name not in known:
            cursor.execute(_definition(statement))
            known.add(name)


@lru_cache(maxsize=512)
def _message(statements: tuple[str, ...]) -> str:
    return ";\n".join(f"EXECUTE {_name(each)}{_arguments(each)}" for each in statements)


@lru_cache(maxsize=512)
def _name(statement: str) -> str:
    return f"atributo_{md5(statement.encode(), usedforsecurity=False).hexdigest()[:16]}"


def _names(statement: str) -> list[str]:
    return sorted(set(PARAMETER.findall(statement)))


def _arguments(statement: str) -> str:
    names = ", ".join(f"%({name})s" for name in _names(statement))
    return f"({names})" if names else ""


def _definition(statement: str) -> str:
    places = {name: f"${place}" for place, name in enumerate(_names(statement), 1)}
    body = PARAMETER.sub(lambda match: places[match[1]], statement).replace("%%", "%")
    return f"PREPARE {_name(statement)} AS {body}"


# TRANSITION: everything below goes
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
