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
Call = tuple[bytes, Sequence[bytes | None]]  # the name of a prepared statement, and its values


def is_ready(raw: psycopg.Connection) -> bool:
    """Whether psycopg need not say first how a transaction begins, or has one that failed."""
    if raw.autocommit or raw.pgconn.transaction_status == TransactionStatus.INTRANS:
        return True
    return begins(raw) and raw.isolation_level is raw.read_only is raw.deferrable is None


def begins(raw: psycopg.Connection) -> bool:
    """Whether the next statement is the first one of a transaction."""
    return not raw.autocommit and raw.pgconn.transaction_status == TransactionStatus.IDLE


def run_prepared(raw: psycopg.Connection, name: bytes, values: Sequence[bytes | None]) -> PGresult:
    """Run a statement that this connection has prepared, in one round trip."""
    if begins(raw):
        return run_in_turn(raw, [[(name, values)]])[-1]
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


def run_in_turn(raw: psycopg.Connection, transactions: Sequence[Sequence[Call]]) -> list[PGresult]:
    """Run prepared statements in one round trip; each inner sequence is a database transaction.

    Outside of autocommit they are all part of one, which begins with them if none is open.
    An error is that of the first that failed; those of later transactions ran nevertheless.
    """
    begin = begins(raw)
    try:
        results = _ask_in_turn(raw.pgconn, transactions, begin)
    except BaseException:  # as above
        raw.close()
        raise
    failed = next((result for result in results if result.status not in GOOD), None)
    if failed is not None:
        raise psycopg.errors.error_from_result(failed)
    return results[1:] if begin else results


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
    _send_all(pgconn)
    result = None
    while (answer := _result(pgconn)) is not None:
        if result is None or result.status in GOOD:
            result = answer
    if result is None or pgconn.status != ConnStatus.OK:
        raise psycopg.OperationalError("the connection to the server is lost")
    return result


def _ask_in_turn(
    pgconn: PGconn, transactions: Sequence[Sequence[Call]], begin: bool
) -> list[PGresult]:
    """Return all results; each transaction ends with a result that says nothing else."""
    pgconn.enter_pipeline_mode()
    if begin:
        pgconn.send_query_params(b"BEGIN", None)
    for calls in transactions:
        for name, values in calls:
            pgconn.send_query_prepared(name, values)
        pgconn.pipeline_sync()
    _send_all(pgconn)
    results: list[PGresult] = []
    ended = 0
    while ended < len(transactions):
        result = _result(pgconn)
        if pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError("the connection to the server is lost")
        if result is not None and result.status == ExecStatus.PIPELINE_SYNC:
            ended += 1
        elif result is not None:
            results.append(result)
    pgconn.exit_pipeline_mode()
    return results


def _send_all(pgconn: PGconn) -> None:
    """Wait while the server takes no more: a long text does not fit into the socket at once."""
    while pgconn.flush():
        waiting = select.poll()
        waiting.register(pgconn.socket, select.POLLIN | select.POLLOUT)
        [(_, what)] = waiting.poll()
        if what & select.POLLIN:  # it may wait itself until we read
            pgconn.consume_input()


def _result(pgconn: PGconn) -> PGresult | None:
    """Wait in poll, because libpq would wait with Python's lock held: other threads go on."""
    while pgconn.is_busy():
        waiting = select.poll()
        waiting.register(pgconn.socket, select.POLLIN)
        waiting.poll()
        pgconn.consume_input()
    return pgconn.get_result()
