"""The one database layer: what SQLite and PostgreSQL say differently, and how to run hot SQL.

A hot statement is SQL with named parameters, `%(name)s`. PostgreSQL prepares it once per
connection, since to plan it anew often costs more than to run it. This is done by PREPARE and
EXECUTE: what psycopg prepares itself, it forgets at every rollback. A single statement with plain
values goes to libpq at once, which halves its price in this process.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import md5
from typing import Any

from django.db import connections
from django.db.transaction import atomic

PARAMETER = re.compile(r"%\((\w+)\)s")
Row = tuple[Any, ...]
NEVER_SORT = "SELECT set_config('enable_sort', 'off', TRUE)"  # until the transaction ends


@dataclass(frozen=True)
class Dialect:
    vendor: str
    now: str  # the moment at which the statement began; an index can be searched for it
    clock: str  # the moment at which this is read, later than `now` if the statement waited
    minute: str  # the minute of `now`
    lock: str  # take rows that nobody else is taking
    lock_row: str  # hold a row; SQLite locks the whole database instead
    greatest: str  # the function that returns the greatest of its arguments
    true: str
    false: str

    def in_seconds(self, parameter: str, *, since: str = "now") -> str:
        """The moment so many seconds after `now` or `clock`; they may be less than none."""
        if self.vendor == "postgresql":
            return f"{getattr(self, since)} + make_interval(secs => %({parameter})s)"
        return f"strftime('{FORMAT}', 'now', %({parameter})s || ' seconds')"

    def json(self, parameter: str) -> str:
        return f"%({parameter})s::jsonb" if self.vendor == "postgresql" else f"%({parameter})s"

    def bytes_of(self, column: str) -> str:
        """A JSON column as it is stored; SQLite may hold what is neither JSON nor a text."""
        return f"{column}::text" if self.vendor == "postgresql" else f"CAST({column} AS BLOB)"

    def among(self, parameter: str, kind: str = "bigint") -> str:
        """Compare a column with the values of a parameter that is `listed`."""
        if self.vendor == "postgresql":
            return f"= ANY(%({parameter})s::{kind}[])"
        return f"IN (SELECT value FROM json_each(%({parameter})s))"  # nosec B608 # of names in our code

    def rows(self, parameter: str, **columns: str) -> str:
        """The rows of an array of arrays, given as JSON, with these columns and types."""
        members = enumerate(columns.items())
        if self.vendor == "postgresql":
            read = ", ".join(f"(w ->> {at})::{kind} AS {name}" for at, (name, kind) in members)
            return f"(SELECT {read} FROM json_array_elements(%({parameter})s::json) AS w)"  # nosec B608 # of names in our code
        read = ", ".join(f"value ->> {at} AS {name}" for at, (name, _) in members)
        return f"(SELECT {read} FROM json_each(%({parameter})s))"  # nosec B608 # of names in our code

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
    greatest="GREATEST",
    true="TRUE",
    false="FALSE",
)
SQLITE = Dialect(
    vendor="sqlite",
    now=f"strftime('{FORMAT}', 'now')",
    clock=f"strftime('{FORMAT}', 'now')",
    minute="strftime('%%Y-%%m-%%d %%H:%%M:00', 'now')",
    lock="",
    lock_row="",
    greatest="max",
    true="1",
    false="0",
)


def dialect(using: str = "default") -> Dialect:
    return POSTGRESQL if connections[using].vendor == "postgresql" else SQLITE


def listed(values: Iterable[int | str], using: str = "default") -> str:
    """Return many values as one parameter: a plain text, which goes to the database at once."""
    if connections[using].vendor == "postgresql":
        return "{" + ",".join(map(_quoted, values)) + "}"
    return json.dumps(list(values))


def _quoted(value: int | str) -> str:
    if isinstance(value, int):
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(slots=True)
class Result:
    rows: list[Row]
    count: int  # of rows that were returned or changed

    @property
    def first(self) -> Row | None:
        return self.rows[0] if self.rows else None


def execute(statement: str, parameters: Mapping[str, Any], using: str = "default") -> Result:
    """Run one hot statement."""
    return execute_on(connections[using], statement, parameters)


def execute_on(connection: Any, statement: str, parameters: Mapping[str, Any]) -> Result:
    """Run one hot statement on a connection that the caller has at hand."""
    if not is_ours(connection) or connection.execute_wrappers:
        return execute_together([statement], parameters, connection.alias)
    libpq = connection.libpq
    name, encoded, names = _prepared_as(statement)
    values = libpq.as_texts([parameters[each] for each in names])
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    if values is None or connection.queries_logged or not libpq.is_ready(connection.connection):
        return execute_together([statement], parameters, connection.alias)
    connection.validate_no_broken_transaction()
    if name not in connection.prepared:
        with connection.cursor() as cursor:
            _prepare([statement], cursor)
    with connection.wrap_database_errors:
        return _loaded(connection, libpq.run_prepared(connection.connection, encoded, values))


def execute_together(
    statements: Sequence[str], parameters: Mapping[str, Any], using: str = "default"
) -> Result:
    """Run hot statements in one database transaction, on PostgreSQL in one message.

    The result is that of the last one. Each takes those of the parameters that it names.
    """
    return execute_in_turn([statements], parameters, using)


def execute_each(
    statements: Sequence[str], parameters: Mapping[str, Any], using: str = "default"
) -> list[Result]:
    """Do the same, and return the result of each."""
    connection = connections[using]
    run = _as_one_text if is_ours(connection) else _together
    return run(statements, parameters, connection)


def execute_in_turn(
    transactions: Sequence[Sequence[str]], parameters: Mapping[str, Any], using: str = "default"
) -> Result:
    """Run hot statements, each inner sequence in a transaction, on PostgreSQL in one message.

    The result is that of the last one. Inside a transaction that is open they are all part of it.
    """
    return execute_each_in_turn(transactions, parameters, using)[-1]


def execute_each_in_turn(
    transactions: Sequence[Sequence[str]], parameters: Mapping[str, Any], using: str = "default"
) -> list[Result]:
    """Do the same, and return the result of each."""
    connection: Any = connections[using]
    if not is_ours(connection):
        return [done for each in transactions for done in _together(each, parameters, connection)]
    calls = [[_call(connection, each, parameters) for each in group] for group in transactions]
    if any(values is None for group in calls for _, values in group) or not _is_quick(connection):
        groups = [_as_one_text(each, parameters, connection) for each in transactions]
        return [done for group in groups for done in group]
    if not all(name.decode() in connection.prepared for group in calls for name, _ in group):
        with connection.cursor() as cursor:
            _prepare([each for statements in transactions for each in statements], cursor)
    with connection.wrap_database_errors:
        answers = connection.libpq.run_in_turn(connection.connection, calls)
        return [_loaded(connection, each) for each in answers]


def in_index_order(d: Dialect, statement: str) -> list[str]:
    """Return what finds the first rows by the index that has them in order, in one transaction.

    With statistics from when there were none PostgreSQL would rather read all that are there by
    another index, and sort them.
    """
    return [NEVER_SORT, statement] if d.vendor == "postgresql" else [statement]


def _loaded(connection: Any, answer: Any) -> Result:
    rows = connection.libpq.rows_of(connection.transformer, answer)
    return Result(rows, answer.command_tuples or 0)


def _call(connection: Any, statement: str, parameters: Mapping[str, Any]) -> tuple[bytes, Any]:
    _, name, names = _prepared_as(statement)
    return name, connection.libpq.as_texts([parameters[each] for each in names])


def _is_quick(connection: Any) -> bool:
    """Return whether statements may go to libpq at once; nobody wants to see them first."""
    if connection.execute_wrappers or connection.queries_logged:
        return False
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    return connection.libpq.is_ready(connection.connection)


def _as_one_text(
    statements: Sequence[str], parameters: Mapping[str, Any], connection: Any
) -> list[Result]:
    with connection.cursor() as cursor:
        _prepare(statements, cursor)
        cursor.execute(_message(tuple(statements)), parameters)
        results = [_result(cursor)]
        while cursor.nextset():
            results.append(_result(cursor))
        return results


def _together(
    statements: Sequence[str], parameters: Mapping[str, Any], connection: Any
) -> list[Result]:
    together = atomic(using=connection.alias) if len(statements) > 1 else nullcontext()
    results = []
    with together, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, parameters)
            results.append(_result(cursor))
    return results


def is_ours(connection: Any) -> bool:
    """Return whether the connection keeps prepared statements.

    That of a project with Django's own backend does not: a pool in between may change servers.
    """
    return hasattr(connection, "libpq")


def forget_plans(using: str = "default") -> None:
    """Plan anew: the tables may have grown since."""
    connection = connections[using]
    if is_ours(connection):
        with connection.cursor() as cursor:
            cursor.execute("DISCARD PLANS")


def _result(cursor: Any) -> Result:
    rows = cursor.fetchall() if cursor.description else []
    return Result(rows, cursor.rowcount)


def _prepare(statements: Sequence[str], cursor: Any) -> None:
    known = cursor.db.prepared
    for statement in statements:
        name = _name(statement)
        if name not in known:
            cursor.execute(_definition(statement))
            known.add(name)


@lru_cache(maxsize=512)
def _message(statements: tuple[str, ...]) -> str:
    return ";\n".join(f"EXECUTE {_name(each)}{_arguments(each)}" for each in statements)


@lru_cache(maxsize=512)
def _prepared_as(statement: str) -> tuple[str, bytes, tuple[str, ...]]:
    """Return the name, once more as libpq takes it, and the names of the parameters."""
    name = _name(statement)
    return name, name.encode(), _names(statement)


@lru_cache(maxsize=512)
def _name(statement: str) -> str:
    return f"atributo_{md5(statement.encode(), usedforsecurity=False).hexdigest()[:16]}"


@lru_cache(maxsize=512)
def _names(statement: str) -> tuple[str, ...]:
    return tuple(sorted(set(PARAMETER.findall(statement))))


def _arguments(statement: str) -> str:
    names = ", ".join(f"%({name})s" for name in _names(statement))
    return f"({names})" if names else ""


def _definition(statement: str) -> str:
    places = {name: f"${place}" for place, name in enumerate(_names(statement), 1)}
    body = PARAMETER.sub(lambda match: places[match[1]], statement).replace("%%", "%")
    return f"PREPARE {_name(statement)} AS {body}"
