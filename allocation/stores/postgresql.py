"""Placing on PostgreSQL: one call, one round trip."""

import select
from typing import Any
from weakref import WeakSet

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from allocation import sql
from allocation.stores.placing import Ending, Outcome, Placement, Placements, bucket, buckets

_prepared: WeakSet[psycopg.Connection] = WeakSet()


class PostgresStore:
    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection

    def find(self, job_id: str) -> str | None:
        rows = self._call("find", sql.PG_FIND, (job_id,))
        return rows[0][0] if rows else None

    def find_many(self, job_ids: list[str]) -> dict[str, str]:
        with self.connection.wrap_database_errors:
            return dict(self._raw().cursor().execute(sql.PG_FIND_MANY, (job_ids,)).fetchall())

    def place(self, placement: Placement) -> Outcome:
        facts = (*placement, bucket(placement.job_id))
        ((existing, placed, version),) = self._call("place", sql.PG_PLACE, facts)
        return Outcome(existing, placed, int(version or 0))

    def place_many(self, many: Placements) -> tuple[dict[str, str], dict[str, str], int]:
        chosen = sorted(many.chosen)
        job_ids = [job_id for job_id, _, _ in chosen]
        facts = {
            "job_ids": job_ids,
            "instance_ids": [instance_id for _, instance_id, _ in chosen],
            "scores": [score for _, _, score in chosen],
            "version": many.version,
            "strategy": many.strategy,
            "candidates": many.candidates,
            "actor": many.actor,
            "channel": many.channel,
        }
        rows = self._both(sql.PG_SHARED_MANY, (buckets(job_ids),), sql.PG_PLACE_MANY, facts)
        version = next((row[3] for row in rows if row[3] is not None), 0)
        old = {job_id: instance_id for job_id, instance_id, new, _ in rows if new is False}
        return old, {job_id: instance_id for job_id, instance_id, new, _ in rows if new}, version

    def end(self, ending: Ending) -> dict[str, str]:
        facts = {
            "job_ids": ending.job_ids,
            "epoch": ending.epoch,
            "actor": ending.actor,
            "reason": ending.reason,
        }
        return dict(self._both(sql.PG_ENDING, (buckets(ending.job_ids),), sql.PG_END, facts))

    def epochs(self, count: int) -> list[int]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql.PG_EPOCHS, [count])
            return [epoch for (epoch,) in cursor.fetchall()]

    def make_counters(self, instance_ids: list[str]) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql.PG_COUNTERS, [instance_ids])

    def count(self, jobs: dict[str, int]) -> None:
        facts: Any = {"instance_ids": list(jobs), "jobs": list(jobs.values())}
        with self.connection.cursor() as cursor:
            cursor.execute(sql.PG_COUNT, facts)

    def _call(self, name: str, statement: str, facts: tuple[Any, ...]) -> list[Any]:
        """Prepared, but not in a caller's transaction, which a missing one would break."""
        with self.connection.wrap_database_errors:
            raw = self._raw()
            if raw.autocommit:
                return _rows(_run(raw, name, facts))
            return raw.cursor().execute(statement, facts).fetchall()

    def _both(self, lock: str, lock_facts: Any, statement: str, facts: Any) -> list[Any]:
        """The lock and the statement in one transaction and one round trip."""
        with self.connection.wrap_database_errors:
            raw = self._raw()
            with raw.pipeline():
                raw.cursor().execute(lock, lock_facts)
                cursor = raw.cursor().execute(statement, facts)
            return cursor.fetchall()

    def _raw(self) -> psycopg.Connection:
        self.connection.validate_no_broken_transaction()
        self.connection.ensure_connection()
        return self.connection.connection


def _run(raw: psycopg.Connection, name: str, facts: tuple[Any, ...]) -> PGresult:
    """Not by psycopg's cursor: its bookkeeping costs as much as the statement."""
    if raw not in _prepared:
        for statement in sql.PG_PREPARED:
            raw.execute(statement.encode())
        _prepared.add(raw)
    encoded = [None if fact is None else str(fact).encode() for fact in facts]
    try:
        result = _result(raw.pgconn, f"atributo_{name}".encode(), encoded)
    except BaseException:  # cut off in the middle, it is of no more use
        raw.close()
        raise
    if result.status == ExecStatus.TUPLES_OK:
        return result
    if result.error_field(DiagnosticField.SQLSTATE) == b"26000":
        _prepared.discard(raw)  # a pooler gave us another session
    if raw.pgconn.status != ConnStatus.OK:
        raise psycopg.OperationalError("the connection to the server is lost")
    raise psycopg.errors.error_from_result(result)


def _result(pgconn: PGconn, name: bytes, facts: list[bytes | None]) -> PGresult:
    pgconn.send_query_prepared(name, facts)
    while pgconn.flush():
        _wait(pgconn, select.POLLOUT | select.POLLIN)
    while pgconn.is_busy():
        _wait(pgconn, select.POLLIN)
    found = pgconn.get_result()
    if found is None:
        raise psycopg.OperationalError("the connection to the server is lost")
    while pgconn.get_result():  # it has no more; libpq wants to be asked
        pass
    return found


def _wait(pgconn: PGconn, events: int) -> None:
    """In poll, because libpq would wait with Python's lock held: other threads go on."""
    waiting = select.poll()
    waiting.register(pgconn.socket, events)
    waiting.poll()
    pgconn.consume_input()


def _rows(result: PGresult) -> list[Any]:
    """As texts."""
    columns = range(result.nfields)
    return [
        tuple(_text(result.get_value(row, column)) for column in columns)
        for row in range(result.ntuples)
    ]


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
