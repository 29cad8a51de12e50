"""Recognise by an error what is wrong with a server: away, refused, read-only or out of disk.

A busy server is in no trouble: the same call may succeed in a moment.
"""

import errno
import sqlite3
import sys
from dataclasses import dataclass

from django.db import OperationalError

from atributo_site.core.errors import ConnectionLost, DatabaseRefused

DISK_FULL, READ_ONLY, AWAY, REFUSED = "disk_full", "read_only", "away", "refused"
OF_SQLITE = {
    sqlite3.SQLITE_FULL: DISK_FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: AWAY,
    sqlite3.SQLITE_IOERR: AWAY,
}
OF_POSTGRESQL = {"53100": DISK_FULL, "25006": READ_ONLY}
OF_FILES = {errno.ENOSPC: DISK_FULL, errno.EDQUOT: DISK_FULL, errno.EROFS: READ_ONLY}


@dataclass(frozen=True)
class Trouble:
    system: str  # database or redis
    state: str


def trouble_of(error: BaseException) -> Trouble | None:
    """Return the trouble that an error tells of; None for every other error."""
    state = state_of_database(error)
    if state is not None:
        return Trouble("database", state)
    state = _state_of_redis(error)
    return None if state is None else Trouble("redis", state)


def state_of_database(error: BaseException) -> str | None:
    if isinstance(error, DatabaseRefused):
        return REFUSED
    cause = error.__cause__ or error
    sqlstate = getattr(cause, "sqlstate", None)  # not every process loads psycopg
    if sqlstate in OF_POSTGRESQL:
        return OF_POSTGRESQL[sqlstate]
    if isinstance(error, ConnectionLost):
        return AWAY
    if isinstance(cause, sqlite3.Error):
        return OF_SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
    if isinstance(cause, OSError) and isinstance(error, OperationalError):  # a file beside SQLite
        return OF_FILES.get(cause.errno or 0)
    return None


def _state_of_redis(error: BaseException) -> str | None:
    known = sys.modules.get("redis.exceptions")  # not loaded: it cannot be one of them
    if known is None or not isinstance(error, known.RedisError):
        return None
    if isinstance(error, known.AuthenticationError | known.AuthorizationError):
        return REFUSED
    if isinstance(error, known.ReadOnlyError):
        return READ_ONLY
    if str(error).startswith("MISCONF"):  # it cannot store what it has, mostly for want of disk
        return DISK_FULL
    return AWAY if isinstance(error, known.ConnectionError | known.TimeoutError) else None
