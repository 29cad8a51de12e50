"""Placing on SQLite: one writer at a time, from BEGIN IMMEDIATE to COMMIT."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.db.backends.base.base import BaseDatabaseWrapper

from allocation.storage import sqlite_sql as sql
from allocation.storage.base import Placement, PlacementResult, Placements, Removal


class SqliteStore:
    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection

    def find(self, job_id: str) -> str | None:
        with self.connection.wrap_database_errors:
            return _one(self._raw(), sql.FIND, job_id)

    def find_many(self, job_ids: list[str]) -> dict[str, str]:
        with self.connection.wrap_database_errors:
            return dict(self._raw().execute(sql.FIND_MANY, (json.dumps(job_ids),)).fetchall())

    def place(self, placement: Placement) -> PlacementResult:
        with self.connection.wrap_database_errors:
            raw = self._raw()
            found = _one(raw, sql.FIND, placement.job_id)  # without the writers' lock
            if found is not None:
                return PlacementResult(found, None, placement.version)
            try:
                _place(raw, placement)
            except sqlite3.IntegrityError:  # placed meanwhile, another version, or no room
                found = _one(raw, sql.FIND, placement.job_id)
                return PlacementResult(found, None, _one(raw, sql.VERSION) or 0)
        return PlacementResult(None, placement.instance_id, placement.version)

    def place_many(self, many: Placements) -> tuple[dict[str, str], dict[str, str]]:
        job_ids = json.dumps([job_id for job_id, _, _ in many.chosen])
        with self._writing() as raw:
            old = dict(raw.execute(sql.FIND_MANY, (job_ids,)).fetchall())
            if _one(raw, sql.VERSION) != many.version:
                return old, {}
            fresh = [item for item in many.chosen if item[0] not in old]
            self._insert(raw, many, fresh)
        return old, {job_id: instance_id for job_id, instance_id, _ in fresh}

    def end(self, ending: Removal) -> dict[str, str]:
        job_ids = json.dumps(ending.job_ids)
        with self._writing() as raw:
            gone = raw.execute(sql.END, (job_ids, ending.epoch, ending.epoch)).fetchall()
            why = (ending.actor, ending.reason)
            raw.executemany(sql.PAST, [(*row, *why) for row in gone])
            counts = Counter(row[1] for row in gone)
            raw.executemany(sql.LOAD, [(key, -jobs) for key, jobs in counts.items()])
        return {row[0]: row[1] for row in gone}

    def epochs(self, count: int) -> list[int]:
        with self._writing() as raw:
            last = _one(raw, sql.EPOCHS, count)
        return list(range(last - count + 1, last + 1))

    def make_counters(self, instance_ids: list[str]) -> None:
        """Placing makes them, at no cost."""

    def count(self, jobs: dict[str, int]) -> None:
        with self._writing() as raw:
            raw.executemany(sql.LOAD, list(jobs.items()))

    def _insert(
        self,
        raw: sqlite3.Connection,
        many: Placements,
        fresh: list[tuple[str, str, float | None]],
    ) -> None:
        if not fresh:
            return
        last = _one(raw, sql.EPOCHS, len(fresh))
        rows = [
            (job_id, instance_id, epoch, many.strategy, many.candidates, score, *_who(many))
            for epoch, (job_id, instance_id, score) in enumerate(
                sorted(fresh),
                last - len(fresh) + 1,  # neighbours share pages
            )
        ]
        raw.executemany(sql.INSERT, rows)
        counts = Counter(instance_id for _, instance_id, _ in fresh)
        raw.executemany(sql.LOAD, list(counts.items()))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The writers' lock until the end of the block, or of the caller's transaction."""
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


def _one(raw: sqlite3.Connection, statement: str, *facts: object):
    # Fetch all: an open cursor with RETURNING would keep the transaction from committing.
    rows = raw.execute(statement, facts).fetchall()
    return rows[0][0] if rows else None


def _place(raw: sqlite3.Connection, placement: Placement) -> None:
    try:
        raw.execute(sql.PLACE, placement)
    except sqlite3.OperationalError as error:
        if "atributo_place" not in str(error):
            raise
        raw.execute(sql.VIEW)  # the first placement by this connection
        raw.execute(sql.TRIGGER)
        raw.execute(sql.PLACE, placement)


def _who(many: Placements) -> tuple[str, str]:
    return many.actor, many.channel
