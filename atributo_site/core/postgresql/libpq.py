"""Run prepared statements by libpq itself.

The bookkeeping of a cursor costs as much again as the statement.
"""

import select
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.abc import Transformer
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

GOOD = {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}


def is_ready(raw: psycopg.Connection) -> bool:
    """Whether psycopg need not open a transaction first."""
    return raw.autocommit or raw.pgconn.transaction_status == TransactionStatus.INTRANS


def run_prepared(raw: psycopg.Connection, name: bytes, values: Sequence[bytes | None]) -> PGresult:
    """Run a statement that this connection has prepared, in one round trip."""
    try:
        result = _ask(raw.pgconn, name, values)
    except BaseException:  # cut off in the middle, the connection is of no more use
        raw.close()
        raise
    if result.status in GOOD:
        return result
    if raw.pgconn.status != ConnStatus.OK:
        raise psycopg.OperationalError("the connection to the server is lost")
    raise psycopg.errors.error_from_result(result)


def rows_of(transformer: Transformer, result: PGresult) -> list[tuple[Any, ...]]:
    transformer.set_pgresult(result)
    return transformer.load_rows(0, result.ntuples, tuple)


def as_texts(values: Sequence[Any]) -> list[bytes | None] | None:
    """Return values as libpq takes them, or None if one of them is not plain."""
    texts: list[bytes | None] = []
    for value in values:
        kind = type(value)
        if value is None:
            texts.append(None)
        elif isinstance(value, str) and "\0" not in value:  # libpq would cut the text there
            texts.append(value.encode())
        elif kind is int or kind is float or kind is bool:
            texts.append(str(value).encode())
        else:
            return None
    return texts


def _ask(pgconn: PGconn, name: bytes, values: Sequence[bytes | None]) -> PGresult:
    """Return the result of the statement, or the error of its commit, which comes after it.

    What is checked at the commit fails there: a constraint that is deferred, a lock that it needs.
    """
    pgconn.send_query_prepared(name, values)
    pgconn.flush()
    result = None
    while (answer := _result(pgconn)) is not None:
        if result is None or result.status in GOOD:
            result = answer
    if result is None or pgconn.status != ConnStatus.OK:
        raise psycopg.OperationalError("the connection to the server is lost")
    return result


def _result(pgconn: PGconn) -> PGresult | None:
    """Wait in poll, because libpq would wait with Python's lock held: other threads go on."""
    while pgconn.is_busy():
        waiting = select.poll()
        waiting.register(pgconn.socket, select.POLLIN)
        waiting.poll()
        pgconn.consume_input()
    return pgconn.get_result()
