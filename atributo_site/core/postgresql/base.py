"""Django's connection: the next call outside of a transaction replaces a lost one.

The ORM, prepared statements and the raw calls of libpq all ask here for their connection, so a
program needs no request cycle to get rid of a dead one.
"""

import re
import select
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import psycopg
from django.db.backends.ddl_references import Statement
from django.db.backends.postgresql import base, operations, schema
from django.db.backends.postgresql.psycopg_any import BaseTzLoader
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg import abc
from psycopg.adapt import Transformer

from atributo_site.core.availability.patience import lock_ms
from atributo_site.core.errors import ConnectionLost, DatabaseRefused
from atributo_site.core.postgresql import libpq, pending_indexes

PLAIN, CONCURRENTLY = "CREATE INDEX ", "CREATE INDEX CONCURRENTLY "
REFUSAL = re.compile(
    r"FATAL: +((database|role) .* does not exist|password authentication failed"
    r"|permission denied for database|no pg_hba.conf entry|role .* is not permitted to log in)"
)
FATAL = {"FATAL", "PANIC"}  # the server ends the connection after such an error
HEALTHY_SECONDS = 1.0


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    """Leave an index on a table with rows to the end of `migrate`.

    CREATE INDEX inside a migration's transaction would keep all writers of the table out until the
    migration ends. See `pending_indexes` for how it is built instead.
    """

    def add_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        if concurrently or not self._has_rows(model):
            return super().add_index(model, index, concurrently)
        self._postpone(model, index.create_sql(model, self))

    def remove_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        if not self.collect_sql:
            pending_indexes.forget(self.connection, index.name)
        super().remove_index(model, index, concurrently)

    def _field_indexes_sql(self, model: Any, field: Any) -> list[Statement]:
        statements = super()._field_indexes_sql(model, field)  # type: ignore[misc]
        if not statements or not self._has_rows(model):
            return statements
        for statement in statements:
            self._postpone(model, statement)
        return []

    def _has_rows(self, model: Any) -> bool:
        if self.collect_sql:  # somebody wants to read the statements only
            return False
        table = self.connection.ops.quote_name(model._meta.db_table)
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {table})")  # nosec B608 # a quoted name of a model
            return cursor.fetchone()[0]

    def _postpone(self, model: Any, statement: Statement) -> None:
        name = str(statement.parts["name"]).strip('"')
        build = str(statement).replace(PLAIN, CONCURRENTLY, 1)
        pending_indexes.add(self.connection, name, model._meta.db_table, build)


# What a server says to a connection that it will never accept; libpq passes on no error code.


class UtcLoader(BaseTzLoader):
    """Read moments in a tenth of the time that the regular expression of psycopg takes."""

    timezone = UTC

    def load(self, data: abc.Buffer) -> datetime:
        try:
            moment = datetime.fromisoformat(bytes(data).decode())
        except ValueError:  # before the year 1, after 9999, or infinite
            return super().load(data)
        return moment if moment.tzinfo is UTC else super().load(data)


class Errors(DatabaseErrorWrapper):
    """Turn a lost connection into an error that says whether anything may have been written."""

    wrapper: "DatabaseWrapper"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            return
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
    libpq = libpq  # for callers who do not load psycopg themselves
    SchemaEditorClass = DatabaseSchemaEditor
    is_at_standby = False  # after a fail-over the primary may be behind the same address
    _is_committing = False
    _lock_ms = 0  # the longest wait for a lock, unless it is that of the settings
    _healthy_until = 0.0
    health_check_enabled: bool  # both are Django's
    health_check_done: bool
    prepared: set[str]  # the names of the hot statements that this connection knows
    transformer: abc.Transformer  # it remembers how the types of results are read

    @cached_property
    def wrap_database_errors(self) -> Errors:
        return Errors(self)

    def ensure_connection(self) -> None:
        """Keep a lost connection inside a transaction: what was done on it is lost, too."""
        if self._is_replaceable():
            self.close()
        super().ensure_connection()
        # Django's own flag is that of the last connection while a new one is prepared.
        if self._lock_ms != lock_ms() and self.connection.autocommit:
            self._limit_lock_waits(lock_ms())

    def get_autocommit(self) -> bool:
        """Tell the server nothing: a request that ends asks this, with the patience of nobody."""
        if self.connection is None or self._is_replaceable():
            return super().get_autocommit()
        return self.autocommit

    def close_if_health_check_failed(self) -> None:
        """Ask the server no more than once a second: each request would begin with a round trip.

        That the server has closed the connection is noticed without a question.
        """
        if self.connection is None or self.health_check_done or not self.health_check_enabled:
            return
        if time.monotonic() < self._healthy_until:
            self.health_check_done = True
            return
        super().close_if_health_check_failed()
        self._healthy_until = time.monotonic() + HEALTHY_SECONDS

    def _limit_lock_waits(self, milliseconds: int) -> None:
        """Tell the server once; it holds until a call with another patience comes."""
        self._lock_ms = milliseconds
        limit = f"SET lock_timeout = {milliseconds}" if milliseconds else "RESET lock_timeout"
        with self.wrap_database_errors:
            self.connection.execute(limit)

    def close_if_unusable_or_obsolete(self) -> None:
        """Close a lost connection and open no other: this runs where nobody expects an error."""
        if self._is_replaceable():
            return self.close()
        try:
            super().close_if_unusable_or_obsolete()
        except ConnectionLost:  # a moment later
            self.close()

    def _is_replaceable(self) -> bool:
        is_free = self.connection is not None and self.autocommit
        return is_free and (self.is_at_standby or _is_gone(self.connection))

    def connect(self) -> None:
        self.is_at_standby = False
        self._lock_ms, self._healthy_until = 0, 0.0
        super().connect()

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        raw = super().get_new_connection(conn_params)
        if self.timezone is UTC:
            raw.adapters.register_loader("timestamptz", UtcLoader)
        self.prepared, self.transformer = set(), Transformer(raw)
        return raw

    def is_lost_by(self, error: psycopg.Error) -> bool:
        if self.connection is None or self.connection.closed:
            return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return error.diag.severity_nonlocalized in FATAL

    def described(self, error: psycopg.Error) -> ConnectionLost:
        if self.connection is None and REFUSAL.search(str(error)):
            return DatabaseRefused(f"the database refuses this site: {error}", in_doubt=False)
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
