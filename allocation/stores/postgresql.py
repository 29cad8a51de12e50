"""Placing on PostgreSQL: locks and statement in one round trip."""

from typing import Any
from weakref import WeakSet

import psycopg
from django.db import connections
from psycopg.pq import ConnStatus, DiagnosticField, Escaping, ExecStatus

from allocation import sql
from allocation.stores.placing import Ending, Outcome, Placement, Placements, bucket, buckets

_LOCKS = sql.PG_SHARED.encode()
_prepared: WeakSet[psycopg.Connection] = WeakSet()


class PostgresStore:
    def __init__(self, using: str) -> None:
        self.connection = connections[using]

    def find(self, job_id: str) -> str | None:
        with self.connection.wrap_database_errors:
            row = self._raw().cursor().execute(sql.PG_FIND, (job_id,), prepare=True).fetchone()
        return row[0] if row else None

    def find_many(self, job_ids: list[str]) -> dict[str, str]:
        with self.connection.wrap_database_errors:
            cursor = self._raw().cursor().execute(sql.PG_FIND_MANY, (job_ids,), prepare=True)
            return dict(cursor.fetchall())

    def place(self, placement: Placement) -> Outcome:
        if placement.capacity is not None:
            return self._place_within(placement)
        with self.connection.wrap_database_errors:
            raw = self._raw()
            if raw not in _prepared:
                self._prepare(raw)
            old, new, version = _run(raw, _place_query(raw, placement))
        return Outcome(old, new, version)

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

    def count(self, jobs: dict[str, int]) -> None:
        facts: Any = {"instance_ids": list(jobs), "jobs": list(jobs.values())}
        with self.connection.cursor() as cursor:
            cursor.execute(sql.PG_COUNT, facts)

    def _place_within(self, placement: Placement) -> Outcome:
        facts = {name: getattr(placement, name) for name in Placement.__slots__}
        ((old, new, version),) = self._both(
            sql.PG_SHARED, (bucket(placement.job_id),), sql.PG_PLACE_WITHIN, facts
        )
        return Outcome(old, new, version or 0)

    def _both(self, lock: str, lock_facts: Any, statement: str, facts: Any) -> list[Any]:
        """The lock and the statement in one transaction and one round trip."""
        with self.connection.wrap_database_errors:
            raw = self._raw()
            with raw.pipeline():
                raw.cursor().execute(lock, lock_facts, prepare=True)
                cursor = raw.cursor().execute(statement, facts, prepare=True)
            return cursor.fetchall()

    def _raw(self) -> psycopg.Connection:
        self.connection.validate_no_broken_transaction()
        self.connection.ensure_connection()
        return self.connection.connection

    def _prepare(self, raw: psycopg.Connection) -> None:
        raw.cursor().execute(sql.PG_PLACE.encode())
        _prepared.add(raw)


def _place_query(raw: psycopg.Connection, p: Placement) -> bytes:
    """Two statements as text: a pipeline would cost as much as the placement itself."""
    quoted = Escaping(raw.pgconn).escape_literal
    score = b"NULL" if p.score is None else repr(p.score).encode()
    return b"%s; EXECUTE atributo_place(%s, %s, %d, %s, %d, %s, %s, %s)" % (
        _LOCKS % (b"%d" % bucket(p.job_id)),
        quoted(p.job_id.encode()),
        quoted(p.instance_id.encode()),
        p.version,
        quoted(p.strategy.encode()),
        p.candidates,
        score,
        quoted(p.actor.encode()),
        quoted(p.channel.encode()),
    )


def _run(raw: psycopg.Connection, query: bytes) -> tuple[str | None, str | None, int]:
    if not raw.autocommit:  # psycopg opens the transaction itself, if it is not open yet
        cursor = raw.cursor().execute(query)
        cursor.nextset()
        old, new, version = cursor.fetchone()  # type: ignore[misc]
        return old, new, version or 0
    result = raw.pgconn.exec_(query)
    if result.status != ExecStatus.TUPLES_OK:
        if result.error_field(DiagnosticField.SQLSTATE) == b"26000":
            _prepared.discard(raw)  # a pooler gave us another session
        if raw.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError("the connection to the server is lost")
        raise psycopg.errors.error_from_result(result)
    old, new, version = (result.get_value(0, column) for column in range(3))
    return _text(old), _text(new), int(version or 0)


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
