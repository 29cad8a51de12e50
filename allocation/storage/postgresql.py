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
    Relocation,
    bucket,
    buckets,
)
from atributo_site.core.database import Row, execute_on
from atributo_site.core.postgresql import libpq

MOST_REMEMBERED = 20_000
# Numbered in turn.
_parts: WeakKeyDictionary[psycopg.Connection, int] = WeakKeyDictionary()
# Jobs that this process was asked about: probably they are placed, so they are looked up first.
_seen: set[str] = set()


class PostgresStore:
    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection

    def find(self, job_id: str) -> str | None:
        row = execute_on(self.connection, sql.FIND, {"job_id": job_id}).first
        return row[0] if row else None

    def find_likely(self, job_id: str) -> str | None:
        return self.find(job_id) if _seen_before(job_id) else None

    def find_many(self, job_ids: list[str]) -> dict[str, str]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql.FIND_MANY, {"job_ids": job_ids})
            return dict(cursor.fetchall())

    def place(self, placement: Placement) -> PlacementResult:
        if placement.capacity is not None:
            return self._place_within_capacity(placement)
        if placement.labels is not None:
            return self._place_labelled(placement)
        if self._is_placed(placement):
            return PlacementResult(None, placement.instance_id, placement.version)
        return self._look(placement.job_id)

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
            "labels": many.labels,
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

    def move(self, relocation: Relocation) -> int:
        return execute_on(self.connection, sql.MOVE, relocation.facts()).rows[0][0]

    def epochs(self, count: int) -> list[int]:
        rows = execute_on(self.connection, sql.EPOCHS, {"count": count}).rows
        return [epoch for (epoch,) in rows]

    def last_epoch(self) -> int:
        return execute_on(self.connection, sql.LAST_EPOCH, {}).rows[0][0]

    def drawing(self) -> set[str]:
        return {each for (each,) in execute_on(self.connection, sql.DRAWING, {}).rows}

    def make_counters(self, instance_ids: list[str]) -> None:
        execute_on(self.connection, sql.COUNTERS, {"instance_ids": instance_ids})

    def _is_placed(self, placement: Placement) -> bool:
        """Call the function that places; in a caller's transaction in a savepoint."""
        facts = _facts(placement)
        # To ask whether a connection lives is a system call: `execute_on` does that once.
        raw = self.connection.connection or self._raw()
        part = _parts.get(raw)
        facts["part"] = self._part() if part is None else part
        if raw.autocommit:
            return execute_on(self.connection, sql.PLACE, facts).rows[0][0]
        if libpq.begins(raw):
            return self._begun_with(sql.PLACE, facts)
        return self._write([sql.PLACE], facts, lambda row: row[0])[0][0]

    def _begun_with(self, statement: str, facts: dict[str, Any]) -> bool:
        """Begin the caller's transaction with it: no savepoint is needed to give locks back."""
        is_stored = False
        try:
            is_stored = execute_on(self.connection, statement, facts).rows[0][0]
        finally:
            raw = self.connection.connection
            if not is_stored and raw is not None and not raw.closed:
                raw.rollback()  # nothing else has happened in it
        return is_stored

    def _place_labelled(self, placement: Placement) -> PlacementResult:
        """Place a batch of one: the function that places knows no labels."""
        one = Placements(
            [(placement.job_id, placement.instance_id, placement.score)],
            placement.version,
            placement.strategy,
            placement.candidates,
            placement.actor,
            placement.channel,
            placement.labels,
        )
        old, new = self.place_many(one)
        if not old and not new:
            return self._look(placement.job_id)
        return PlacementResult(
            old.get(placement.job_id), new.get(placement.job_id), placement.version
        )

    def _look(self, job_id: str) -> PlacementResult:
        existing, version = execute_on(self.connection, sql.LOOK, {"job_id": job_id}).rows[0]
        return PlacementResult(existing, None, version or 0)

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
            ((part,),) = execute_on(self.connection, sql.PART, {}).rows
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
