"""Placing on PostgreSQL: locks and statement in one round trip.

Our prepared statements on a connection of psycopg.

Jobs that this process was asked about: looked up first, because they are probably placed.
"""

import json
import select
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.transaction import atomic, set_rollback
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from allocation.storage import postgresql_sql
from allocation.storage.base import Placement, PlacementResult, Placements, Removal, bucket, buckets

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
        for statement in postgresql_sql.PG_PREPARED:
            raw.cursor().execute(statement.encode())
        (number,) = raw.cursor().execute(postgresql_sql.PG_PART).fetchone() or (0,)
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


MOST = 20_000
_seen: set[str] = set()


def seen_before(job_id: str) -> bool:
    """Whether it was asked about; it is remembered from now on."""
    if job_id in _seen:
        return True
    if len(_seen) >= MOST:
        _seen.clear()
    _seen.add(job_id)
    return False


class PostgresStore:
    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection

    def find(self, job_id: str) -> str | None:
        with self.connection.wrap_database_errors:
            raw = self._raw()
            if not raw.autocommit:  # psycopg opens the transaction itself, if it is not open yet
                row = raw.cursor().execute(postgresql_sql.PG_FIND, (job_id,)).fetchone()
                return row[0] if row else None
            result = run(raw, b"atributo_find", [job_id.encode()])
            return _text(result.get_value(0, 0)) if result.ntuples else None

    def find_many(self, job_ids: list[str]) -> dict[str, str]:
        with self.connection.wrap_database_errors:
            cursor = self._raw().cursor().execute(postgresql_sql.PG_FIND_MANY, (job_ids,))
            return dict(cursor.fetchall())

    def place(self, placement: Placement) -> PlacementResult:
        raw = self._raw()
        if not raw.autocommit:
            return self._place_inside(placement)
        if placement.capacity is not None:
            return self._place_by(postgresql_sql.PG_PLACE_WITHIN, placement)
        if seen_before(placement.job_id):
            found = self.find(placement.job_id)
            if found is not None:
                return PlacementResult(found, None, placement.version)
        with self.connection.wrap_database_errors:
            if _place(raw, placement):
                return PlacementResult(None, placement.instance_id, placement.version)
            look = raw.cursor().execute(postgresql_sql.PG_LOOK, (placement.job_id,))
            found, version = look.fetchone() or (None, 0)
            return PlacementResult(found, None, version or 0)

    def place_many(self, many: Placements) -> tuple[dict[str, str], dict[str, str]]:
        chosen = sorted(many.chosen)
        facts = {
            "wanted": json.dumps(chosen),  # psycopg would look at each member of an array
            "count": len(chosen),
            "version": many.version,
            "strategy": many.strategy,
            "candidates": many.candidates,
            "actor": many.actor,
            "channel": many.channel,
        }
        locked = buckets(job_id for job_id, _, _ in chosen)
        ways = postgresql_sql.PG_SHARED_MANY, (locked,), postgresql_sql.PG_PLACE_MANY, facts
        if self._raw().autocommit:
            rows = self._both(*ways)
        else:
            rows = self._kept_if_stored(*ways, lambda row: row[2])
        old = {job_id: instance_id for job_id, instance_id, is_new in rows if is_new is False}
        if (None, None, True) in rows:  # all others are new, and where they were chosen to be
            return old, {key: instance_id for key, instance_id, _ in chosen if key not in old}
        return old, {job_id: instance_id for job_id, instance_id, is_new in rows if is_new}

    def end(self, ending: Removal) -> dict[str, str]:
        facts = {
            "job_ids": ending.job_ids,
            "epoch": ending.epoch,
            "actor": ending.actor,
            "reason": ending.reason,
        }
        return dict(
            self._both(
                postgresql_sql.PG_ENDING, (buckets(ending.job_ids),), postgresql_sql.PG_END, facts
            )
        )

    def epochs(self, count: int) -> list[int]:
        with self.connection.cursor() as cursor:
            cursor.execute(postgresql_sql.PG_EPOCHS, [count])
            return [epoch for (epoch,) in cursor.fetchall()]

    def make_counters(self, instance_ids: list[str]) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(postgresql_sql.PG_COUNTERS, [instance_ids])

    def count(self, jobs: dict[str, int]) -> None:
        facts: Any = {"instance_ids": list(jobs), "jobs": list(jobs.values())}
        facts["part"] = part_of(self._raw())
        with self.connection.cursor() as cursor:
            cursor.execute(postgresql_sql.PG_COUNT, facts)

    def _place_inside(self, placement: Placement) -> PlacementResult:
        """In the caller's transaction; a lost race is an error that a savepoint takes back."""
        if placement.capacity is None:
            facts = _locked(placement), postgresql_sql.PG_PLACE_INSIDE, placement._asdict()
            rows = self._kept_if_stored(
                postgresql_sql.PG_SHARED, *facts, lambda row: row[1] is not None
            )
            return _outcome(rows)
        with atomic(using=self.connection.alias):
            outcome = self._place_by(postgresql_sql.PG_PLACE_WITHIN, placement)
            if outcome.placed is None:
                set_rollback(True, using=self.connection.alias)
        return outcome

    def _place_by(self, statement: str, placement: Placement) -> PlacementResult:
        locked = _locked(placement)
        return _outcome(
            self._both(postgresql_sql.PG_SHARED, locked, statement, placement._asdict())
        )

    def _kept_if_stored(
        self,
        lock: str,
        lock_facts: Any,
        statement: str,
        facts: Any,
        is_stored: Callable[[Any], bool],
    ) -> list[Any]:
        """In a caller's transaction the locks go again where no row says that it is stored.

        Who kept them and then wanted the list alone would wait for another who does the same.
        """
        rows = self._both(lock, lock_facts, statement, facts, first=postgresql_sql.PG_SAVEPOINT)
        with self.connection.wrap_database_errors:
            self._raw().execute(
                postgresql_sql.PG_KEEP if any(map(is_stored, rows)) else postgresql_sql.PG_TAKE_BACK
            )
        return rows

    def _both(
        self, lock: str, lock_facts: Any, statement: str, facts: Any, *, first: str = ""
    ) -> list[Any]:
        """The lock and the statement in one transaction and one round trip."""
        with self.connection.wrap_database_errors:
            raw = self._raw()
            known = {**facts, "part": part_of(raw)}
            with raw.pipeline():
                if first:
                    raw.cursor().execute(first)
                raw.cursor().execute(lock, lock_facts)
                cursor = raw.cursor().execute(statement, known)
            return cursor.fetchall()

    def _raw(self) -> psycopg.Connection:
        self.connection.validate_no_broken_transaction()
        self.connection.ensure_connection()
        return self.connection.connection


def _locked(placement: Placement) -> tuple[int]:
    return (bucket(placement.job_id),)


def _outcome(rows: list[Any]) -> PlacementResult:
    ((old, new, version),) = rows
    return PlacementResult(old, new, version or 0)


def _place(raw: psycopg.Connection, p: Placement) -> bool:
    facts = [
        p.job_id.encode(),
        p.instance_id.encode(),
        b"%d" % p.version,
        p.strategy.encode(),
        b"%d" % p.candidates,
        None if p.score is None else repr(p.score).encode(),
        p.actor.encode(),
        p.channel.encode(),
        b"%d" % bucket(p.job_id),
        b"%d" % part_of(raw),
    ]
    return run(raw, b"atributo_place", facts).get_value(0, 0) == b"t"


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
