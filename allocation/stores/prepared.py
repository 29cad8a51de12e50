"""Our prepared statements on a connection of psycopg: several of them in one round trip."""

import select
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from allocation import sql

GOOD = {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}
Statements = list[tuple[bytes, list[bytes | None]]]
# Connections that know the statements, each with its part of the counters.
_parts: WeakKeyDictionary[psycopg.Connection, int] = WeakKeyDictionary()


def run(raw: psycopg.Connection, statements: Statements) -> PGresult:
    """The last one's result. Not by psycopg's pipeline: its bookkeeping costs as much again."""
    part_of(raw)
    try:
        results = _results(raw.pgconn, statements)
    except BaseException:  # cut off in the middle, it is of no more use
        raw.close()
        raise
    wrong = next((found for found in results if found.status not in GOOD), None)
    if wrong is None:
        return results[-1]
    if wrong.error_field(DiagnosticField.SQLSTATE) == b"26000":
        _parts.pop(raw, None)  # a pooler gave us another session
    if raw.pgconn.status != ConnStatus.OK:
        raise psycopg.OperationalError("the connection to the server is lost")
    raise psycopg.errors.error_from_result(wrong)


def part_of(raw: psycopg.Connection) -> int:
    """Of a prepared connection. Numbered in turn, so that neighbours wait for no row."""
    found = _parts.get(raw)
    if found is None:
        for statement in sql.PG_PREPARED:
            raw.cursor().execute(statement.encode())
        (number,) = raw.cursor().execute(sql.PG_PART).fetchone() or (0,)
        found = _parts[raw] = number
    return found


def _results(pgconn: PGconn, statements: Statements) -> list[PGresult]:
    pgconn.enter_pipeline_mode()
    for name, facts in statements:
        pgconn.send_query_prepared(name, facts)
    pgconn.pipeline_sync()
    pgconn.flush()
    results = []
    for _ in statements:
        results.append(_result(pgconn))
        _end(pgconn)
    _result(pgconn)
    pgconn.exit_pipeline_mode()
    return results


def _end(pgconn: PGconn) -> None:
    """Of one statement: it has no more results."""
    while pgconn.is_busy():
        _wait(pgconn)
    pgconn.get_result()


def _wait(pgconn: PGconn) -> None:
    """In poll, because libpq would wait with Python's lock held: other threads go on."""
    waiting = select.poll()
    waiting.register(pgconn.socket, select.POLLIN)
    waiting.poll()
    pgconn.consume_input()


def _result(pgconn: PGconn) -> PGresult:
    while pgconn.is_busy():
        _wait(pgconn)
    found = pgconn.get_result()
    if found is None:
        raise psycopg.OperationalError("the connection to the server is lost")
    return found
