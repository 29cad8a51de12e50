"""Store placements on SQLite: one writer at a time, from BEGIN IMMEDIATE to COMMIT."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

from allocation.storage import sqlite_sql as sql
from allocation.storage.base import (
    Deallocation,
    Placement,
    PlacementResult,
    Placements,
    Relocation,
)
from allocation.storage.postgresql_sql import COLUMNS

NAMES = COLUMNS.split(", ")


class SqliteStore:
    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection

    def find(self, job_id: str) -> str | None:
        with self.connection.wrap_database_errors:
            return _value(self._raw(), sql.FIND, job_id=job_id)

    find_likely = find  # it needs neither a round trip nor the writers' lock

    def find_many(self, job_ids: list[str]) -> dict[str, str]:
        with self.connection.wrap_database_errors:
            return dict(self._raw().execute(sql.FIND_MANY, {"job_ids": json.dumps(job_ids)}))

    def place(self, placement: Placement) -> PlacementResult:
        with self.connection.wrap_database_errors:
            raw = self._raw()
            try:
                _place(raw, placement)
            except sqlite3.IntegrityError:  # placed meanwhile, another version, or no room
                existing = _value(raw, sql.FIND, job_id=placement.job_id)
                return PlacementResult(existing, None, _value(raw, sql.VERSION) or 0)
        return PlacementResult(None, placement.instance_id, placement.version)

    def place_many(self, many: Placements) -> tuple[dict[str, str], dict[str, str]]:
        job_ids = json.dumps([job_id for job_id, _, _ in many.chosen])
        with self._writing() as raw:
            old = dict(raw.execute(sql.FIND_MANY, {"job_ids": job_ids}))
            if _value(raw, sql.VERSION) != many.version:
                return old, {}
            fresh = [item for item in many.chosen if item[0] not in old]
            self._insert(raw, many, fresh)
        return old, {job_id: instance_id for job_id, instance_id, _ in fresh}

    def end(self, deallocation: Deallocation) -> dict[str, str]:
        job_ids = json.dumps(deallocation.job_ids)
        with self._writing() as raw:
            rows = raw.execute(
                sql.END, {"job_ids": job_ids, "epoch": deallocation.epoch}
            ).fetchall()
            gone = [dict(zip(NAMES, row, strict=True)) for row in rows]
            why = {"ended_by": deallocation.actor, "reason": deallocation.reason}
            first = self._first_epoch(raw, len(gone))
            raw.executemany(
                sql.PAST,
                [row | why | {"ended_epoch": epoch} for epoch, row in enumerate(gone, first)],
            )
            counts = Counter(row["instance_id"] for row in gone)
            _add_to_counters(raw, {key: -jobs for key, jobs in counts.items()})
        return {row["job_id"]: row["instance_id"] for row in gone}

    def move(self, relocation: Relocation) -> int:
        facts = relocation.facts()
        counts: Counter[str] = Counter()
        with self._writing() as raw:
            facts["moved_at"] = _value(raw, sql.CLOCK)
            for source, target, jobs in raw.execute(sql.MOVING, facts).fetchall():
                counts.update({source: -jobs, target: jobs})
            facts["first_epoch"] = self._first_epoch(raw, len(relocation.moves))
            raw.execute(sql.KEEP_MOVING, facts)
            moved = raw.execute(sql.MOVE, facts).rowcount
            _add_to_counters(raw, counts)
        return moved

    def epochs(self, count: int) -> list[int]:
        with self._writing() as raw:
            first = self._first_epoch(raw, count)
        return list(range(first, first + count))

    def last_epoch(self) -> int:
        with self.connection.wrap_database_errors:
            return _value(self._raw(), sql.LAST_EPOCH) or 0

    def drawing(self) -> set[str]:
        """Return none: one writer follows the other, and their epochs do so as well."""
        return set()

    def _first_epoch(self, raw: sqlite3.Connection, count: int) -> int:
        """Draw so many epochs in a row, and return the first."""
        return (_value(raw, sql.EPOCHS, count=count) or 0) - count + 1 if count else 0

    def make_counters(self, instance_ids: list[str]) -> None:
        """Do nothing: the first placement makes the counter, at no cost."""

    def _insert(
        self,
        raw: sqlite3.Connection,
        many: Placements,
        fresh: list[tuple[str, str, float | None]],
    ) -> None:
        if not fresh:
            return
        facts = {
            "wanted": json.dumps(sorted(fresh)),  # neighbours share pages
            "first_epoch": self._first_epoch(raw, len(fresh)),
            "strategy": many.strategy,
            "candidates": many.candidates,
            "actor": many.actor,
            "channel": many.channel,
            "labels": many.labels,
        }
        raw.execute(sql.INSERT, facts)
        _add_to_counters(raw, Counter(instance_id for _, instance_id, _ in fresh))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the writers' lock until the end of the block, or of the caller's transaction."""
        with self.connection.wrap_database_errors:
            raw = self._raw()
            if self.connection.in_atomic_block:
                yield raw
                return
            raw.execute("BEGIN IMMEDIATE")
            try:
                yield raw
                raw.execute("COMMIT")
            except BaseException:  # whatever it is, the lock must go
                if raw.in_transaction:
                    raw.execute("ROLLBACK")
                raise

    def _raw(self) -> sqlite3.Connection:
        self.connection.validate_no_broken_transaction()
        self.connection.ensure_connection()
        return self.connection.connection


def _value(raw: sqlite3.Connection, statement: str, **facts: object) -> Any:
    # Fetch all: an open cursor with RETURNING would keep the transaction from committing.
    rows = raw.execute(statement, facts).fetchall()
    return rows[0][0] if rows else None


def _place(raw: sqlite3.Connection, placement: Placement) -> None:
    facts = placement._asdict()
    try:
        raw.execute(sql.PLACE, facts)
    except sqlite3.OperationalError as error:
        if "atributo_place" not in str(error):
            raise
        raw.execute(sql.VIEW)  # the first placement by this connection
        raw.execute(sql.TRIGGER)
        raw.execute(sql.PLACE, facts)


def _add_to_counters(raw: sqlite3.Connection, jobs: Mapping[str, int]) -> None:
    rows = [{"instance_id": key, "jobs": number} for key, number in jobs.items()]
    raw.executemany(sql.LOAD, rows)
