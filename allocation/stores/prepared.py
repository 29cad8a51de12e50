"""Our prepared statements on a connection of psycopg."""

import select
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from allocation import sql

GOOD = {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}
# Connections that know the statements, each with its part of the counters.
_parts: WeakKeyDictionary[psycopg.Connection, int] = WeakKeyDictionary()


def run(raw: psycopg.Connection, name: bytes, facts: list[bytes | None]) -> PGresult:
    """One round trip. Not by psycopg's cursor: its bookkeeping costs as much again."""
    part_of(raw)
    try:
        found = _ask(raw.pgconn, name, facts)
    except BaseException:  # cut off in the middle, it is of no more use
        raw.close()
        raise
    if found.status in GOOD:
        return found
    if found.error_field(DiagnosticField.SQLSTATE) == b"26000":
        _parts.pop(raw, None)  # a pooler gave us another session
    if raw.pgconn.status != ConnStatus.OK:
        raise psycopg.OperationalError("the connection to the server is lost")
    raise psycopg.errors.error_from_result(found)


def part_of(raw: psycopg.Connection) -> int:
    """Of a prepared connection. Numbered in turn, so that neighbours wait for no row."""
    found = _parts.get(raw)
    if found is None:
        for statement in sql.PG_PREPARED:
            raw.cursor().execute(statement.encode())
        (number,) = raw.cursor().execute(sql.PG_PART).fetchone() or (0,)
        found = _parts[raw] = number
    return found


def _ask(pgconn: PGconn, name: bytes, facts: list[bytes | None]) -> PGresult:
    pgconn.send_query_prepared(name, facts)
    pgconn.flush()
    found = _result(pgconn)
    if found is None:
        raise psycopg.OperationalError("the connection to the server is lost")
    _result(pgconn)  # that there are no more
    return found


def _result(pgconn: PGconn) -> PGresult | None:
    """Waits in poll, because libpq would wait with Python's lock held: other threads go on."""
    while pgconn.is_busy():
        waiting = select.poll()
        waiting.register(pgconn.socket, select.POLLIN)
        waiting.poll()
        pgconn.consume_input()
    return pgconn.get_result()
