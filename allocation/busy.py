"""A busy database is tried again, a few times and inside a deadline."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

import psycopg
from django.conf import settings
from django.db import Error, OperationalError, connections

from allocation.errors import DatabaseBusy

T = TypeVar("T")
TRIES = 6
FIRST_WAIT_SECONDS = 0.02
BUSY_STATES = {"40001", "40P01", "55P03", "57014", "53300", "26000"}
READ_ONLY = "25006"
LOST = (psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown, psycopg.errors.CannotConnectNow)


def patiently(
    operation: Callable[[], T],
    using: str = "default",
    *,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> T:
    """The operation's answer, or DatabaseBusy. Inside a caller's transaction it is tried once."""
    begun = monotonic()
    try:
        return operation()
    except (Error, DatabaseBusy) as error:
        deadline = begun + settings.ATRIBUTO.busy_timeout_ms / 1000
        return _again(operation, using, _root(error), deadline, sleep, monotonic)


def _again(
    operation: Callable[[], T],
    using: str,
    error: Error | DatabaseBusy,
    deadline: float,
    sleep: Callable[[float], None],
    monotonic: Callable[[], float],
) -> T:
    tries = 1 if connections[using].in_atomic_block else TRIES
    for attempt in range(1, tries + 1):
        _reconnect_if_lost(error, using)
        if not is_busy(error):
            raise error
        wait = FIRST_WAIT_SECONDS * 2**attempt * random.uniform(0.5, 1.0)
        if attempt == tries or monotonic() + wait > deadline:
            break
        sleep(wait)
        try:
            return operation()
        except (Error, DatabaseBusy) as next_error:
            error = _root(next_error)
    busy = DatabaseBusy(f"the database is busy; gave up after {attempt} tries", tries=attempt)
    busy.inside_transaction = connections[using].in_atomic_block
    raise busy from error


def _root(error: Error | DatabaseBusy) -> Error | DatabaseBusy:
    """What was given up inside a transaction may be tried again from outside of it."""
    cause = error.__cause__
    given_up = isinstance(error, DatabaseBusy) and error.inside_transaction
    return cause if given_up and isinstance(cause, Error) else error


def is_busy(error: BaseException) -> bool:
    """Whether the same call may succeed in a moment."""
    cause = error.__cause__ or error
    if isinstance(cause, psycopg.Error):
        return cause.sqlstate in BUSY_STATES or _is_lost(cause)
    return isinstance(error, OperationalError) and ("locked" in str(error) or "busy" in str(error))


def refuses_to_write(error: BaseException) -> bool:
    """PostgreSQL as a standby, after a fail-over: it answers, so nothing else would notice."""
    return getattr(error.__cause__ or error, "sqlstate", "") == READ_ONLY


def leave_standby(error: BaseException, using: str = "default") -> None:
    """Connect anew the next time: by then the one that writes may be behind the address."""
    connection = connections[using]
    if refuses_to_write(error) and not connection.in_atomic_block:
        connection.close()


def _reconnect_if_lost(error: Error | DatabaseBusy, using: str) -> None:
    connection = connections[using]
    cause = error.__cause__ or error
    if isinstance(cause, psycopg.Error) and _is_lost(cause) and not connection.in_atomic_block:
        connection.close()


def _is_lost(cause: BaseException) -> bool:
    return isinstance(cause, LOST) or (
        isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
        and cause.sqlstate is None
    )
