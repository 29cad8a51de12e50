"""Django's connection: the next call outside of a transaction replaces a lost one.

The ORM, prepared statements and the raw calls of libpq all ask here for their connection, so a
program needs no request cycle to get rid of a dead one.
"""

import select
from types import TracebackType
from typing import Any

import psycopg
from django.db.backends.postgresql import base, operations
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property

from atributo_site.core.errors import ConnectionLost

FATAL = {"FATAL", "PANIC"}  # the server ends the connection after such an error


class Errors(DatabaseErrorWrapper):
    """Turn a lost connection into an error that says whether anything may have been written."""

    wrapper: "DatabaseWrapper"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, psycopg.Error) and self.wrapper.is_lost_by(error):
            self.wrapper.errors_occurred = True
            raise self.wrapper.described(error).with_traceback(trace) from error
        if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
            self.wrapper.is_at_standby = True
        super().__exit__(kind, error, trace)


class DatabaseOperations(operations.DatabaseOperations):
    compiler_module = "atributo_site.core.postgresql.compiler"


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    is_at_standby = False  # after a fail-over the primary may be behind the same address
    _is_committing = False

    @cached_property
    def wrap_database_errors(self) -> Errors:
        return Errors(self)

    def ensure_connection(self) -> None:
        """Keep a lost connection inside a transaction: what was done on it is lost, too."""
        is_free = self.connection is not None and self.autocommit
        if is_free and (self.is_at_standby or _is_gone(self.connection)):
            self.close()
        super().ensure_connection()

    def connect(self) -> None:
        self.is_at_standby = False
        super().connect()

    def is_lost_by(self, error: psycopg.Error) -> bool:
        if self.connection is None or self.connection.closed:
            return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return error.diag.severity_nonlocalized in FATAL

    def described(self, error: psycopg.Error) -> ConnectionLost:
        if self.connection is None:
            return ConnectionLost(f"the database cannot be reached: {error}", in_doubt=False)
        if not self.autocommit and not self._is_committing:
            lost = "the connection to the database was lost; nothing of the transaction is written"
            return ConnectionLost(f"{lost}: {error}", in_doubt=False)
        lost = "the connection to the database was lost before it answered"
        return ConnectionLost(f"{lost}; a write may have been done: {error}", in_doubt=True)

    def _commit(self) -> Any:
        self._is_committing = True
        try:
            return super()._commit()  # type: ignore[misc]
        finally:
            self._is_committing = False


def _is_gone(raw: psycopg.Connection) -> bool:
    """Check whether it is closed or the server has sent something unasked, mostly a good-bye.

    This sends nothing: before each write it would cost a round trip.
    """
    if raw.closed:
        return True
    waiting = select.poll()
    waiting.register(raw.pgconn.socket, select.POLLIN)
    return bool(waiting.poll(0))
