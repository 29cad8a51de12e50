"""Store placements on PostgreSQL: the locks and the statement take one round trip."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper

from allocation.storage import postgresql_sql as sql
from allocation.storage.base import (
    Deallocation,
    Placement,
    PlacementResult,
    Placements,
    bucket,
    buckets,
)
from atributo_site.core.database import Row, execute

MOST_REMEMBERED = 20_000
# Numbered in turn.
_parts: WeakKeyDictionary[psycopg.Connection, int] = WeakKeyDictionary()
# Jobs that this process was asked about: probably they are placed, so they are looked up first.
_seen: set[str] = set()


class PostgresStore:
    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection

    def find(self, job_id: str) -> str | None:
        row = execute(sql.FIND, {"job_id": job_id}, self.connection.alias).first
        return row[0] if row else None

    def find_many(self, job_ids: list[str]) -> dict[str, str]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql.FIND_MANY, {"job_ids": job_ids})
            return dict(cursor.fetchall())

    def place(self, placement: Placement) -> PlacementResult:
        if placement.capacity is not None:
            return self._place_within_capacity(placement)
        if _seen_before(placement.job_id):
            existing = self.find(placement.job_id)
            if existing is not None:
                return PlacementResult(existing, None, placement.version)
        if self._is_placed(placement):
            return PlacementResult(None, placement.instance_id, placement.version)
        look = execute(sql.LOOK, {"job_id": placement.job_id}, self.connection.alias)
        existing, version = look.rows[0]
        return PlacementResult(existing, None, version or 0)

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
            "buckets": buckets(job_id for job_id, _, _ in chosen),
        }
        rows = self._write([sql.SHARED_MANY, sql.PLACE_MANY], facts, lambda row: row[2])
        old = {job_id: instance_id for job_id, instance_id, is_new in rows if is_new is False}
        if (None, None, True) in rows:  # all others are new, and where they were chosen to be
            return old, {key: instance_id for key, instance_id, _ in chosen if key not in old}
        return old, {job_id: instance_id for job_id, instance_id, is_new in rows if is_new}

    def end(self, deallocation: Deallocation) -> dict[str, str]:
        facts: dict[str, Any] = {
            "job_ids": deallocation.job_ids,
            "epoch": deallocation.epoch,
            "actor": deallocation.actor,
            "reason": deallocation.reason,
            "buckets": buckets(deallocation.job_ids),
        }
        facts["part"] = self._part()
        with self.connection.wrap_database_errors:
            return dict(_pipeline(self._raw(), [sql.ENDING, sql.END], facts))

    def epochs(self, count: int) -> list[int]:
        rows = execute(sql.EPOCHS, {"count": count}, self.connection.alias).rows
        return [epoch for (epoch,) in rows]

    def make_counters(self, instance_ids: list[str]) -> None:
        execute(sql.COUNTERS, {"instance_ids": instance_ids}, self.connection.alias)

    def count(self, jobs: dict[str, int]) -> None:
        facts = {"instance_ids": list(jobs), "jobs": list(jobs.values())}
        execute(sql.COUNT, {**facts, "part": self._part()}, self.connection.alias)

    def _is_placed(self, placement: Placement) -> bool:
        """Call the function that places; in a caller's transaction in a savepoint."""
        facts = _facts(placement)
        if not self._raw().autocommit:
            return self._write([sql.PLACE], facts, lambda row: row[0])[0][0]
        facts["part"] = self._part()
        return execute(sql.PLACE, facts, self.connection.alias).rows[0][0]

    def _place_within_capacity(self, placement: Placement) -> PlacementResult:
        statements = [sql.SHARED, sql.PLACE_WITHIN]
        rows = self._write(statements, _facts(placement), lambda row: row[1] is not None)
        ((existing, placed, version),) = rows
        return PlacementResult(existing, placed, version or 0)

    def _write(
        self, statements: Sequence[str], facts: dict[str, Any], is_stored: Callable[[Row], bool]
    ) -> list[Row]:
        """Run the statements in one transaction and return the rows of the last one.

        In a caller's transaction a savepoint gives the locks back if no row is stored. If they
        were kept, two callers who then want the list for themselves would wait for each other.
        """
        raw = self._raw()
        facts = {**facts, "part": self._part()}
        with self.connection.wrap_database_errors:
            if raw.autocommit:
                return _pipeline(raw, statements, facts)
            try:
                rows = _pipeline(raw, [sql.SAVEPOINT, *statements], facts)
            except psycopg.Error:
                if not raw.closed:
                    raw.execute(sql.TAKE_BACK)
                raise
            raw.execute(sql.KEEP if any(map(is_stored, rows)) else sql.TAKE_BACK)
            return rows

    def _part(self) -> int:
        """Return this connection's part of the counters, so that neighbours wait for no row."""
        raw = self._raw()
        part = _parts.get(raw)
        if part is None:
            ((part,),) = execute(sql.PART, {}, self.connection.alias).rows
            _parts[raw] = part
        return part

    def _raw(self) -> psycopg.Connection:
        self.connection.validate_no_broken_transaction()
        self.connection.ensure_connection()
        return self.connection.connection


def _seen_before(job_id: str) -> bool:
    """Remember the job, and return whether it was remembered already."""
    if job_id in _seen:
        return True
    if len(_seen) >= MOST_REMEMBERED:
        _seen.clear()
    _seen.add(job_id)
    return False


def _facts(placement: Placement) -> dict[str, Any]:
    return {**placement._asdict(), "bucket": bucket(placement.job_id)}


def _pipeline(
    raw: psycopg.Connection, statements: Sequence[str], facts: Mapping[str, Any]
) -> list[Row]:
    """Send all statements in one round trip; return the rows of the last one."""
    with raw.pipeline():
        for statement in statements:
            cursor = raw.cursor().execute(statement, facts)
    return cursor.fetchall()
