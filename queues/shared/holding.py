"""Hold many slots of a queue, and write about many jobs at once."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.db.transaction import atomic

from atributo_site.core.database import Dialect, Result, dialect, execute, execute_each
from atributo_site.core.errors import LeaseLost
from queues.logic.lifecycle import Status
from queues.models import QueuedJob
from queues.runs import outcomes
from queues.runs.callbacks import follow_ends
from queues.runs.outcome_rows import AttemptResult, outcome_row
from queues.runs.reservation import Reserved, aware, without_expired
from queues.runs.slots import HeldSlot, lease_seconds
from queues.shared.sql import statements as sql


@dataclass
class Started:
    """A job whose row shows it as running, in a slot of its own."""

    job: Reserved
    slot: HeldSlot
    now: Any  # by the database, when it was reserved
    revision: int
    is_begun: bool = False  # its row says so already


Ended = tuple[Started, AttemptResult]


@dataclass(frozen=True)
class Belonging:
    """Which jobs may begin in the process: scripts of one service, as they were at a revision."""

    mount: str
    scripts: str = "[]"  # their names as JSON
    revision: int = -1


@dataclass
class Holding:
    """The slots of one queue that one worker holds for one process."""

    queue_id: int
    queue: str
    holder: str
    worker: str
    slots: dict[int, HeldSlot] = field(default_factory=dict)

    def acquire(self, count: int) -> int:
        """Take up to so many further slots; return how many there were."""
        asked = {"queue_id": self.queue_id, "holder": self.holder, "count": count}
        rows = execute(sql.acquire(dialect()), {**asked, "lease_seconds": lease_seconds()}).rows
        for slot_id, epoch, number in rows:
            given = (slot_id, epoch, self.queue_id, self.queue, number, self.holder)
            self.slots[slot_id] = HeldSlot(*given)
        return len(rows)

    def renew(self) -> None:
        """Renew all leases; LeaseLost once somebody else may have one of the slots."""
        asked = {"slots": _json(self.slots.values()), "lease_seconds": lease_seconds()}
        if execute(sql.renew(dialect()), asked).count != len(self.slots):
            raise LeaseLost(f"slots of queue {self.queue} are no longer ours")

    def release(self, slots: list[HeldSlot]) -> None:
        if slots:
            execute(sql.release(dialect()), {"slots": _json(slots)})
        for slot in slots:
            self.slots.pop(slot.id, None)

    def forget(self, slots: list[HeldSlot]) -> None:
        """Leave slots to the curator: what they hold is not known."""
        for slot in slots:
            self.slots.pop(slot.id, None)

    def unring(self, numbers: set[int]) -> None:
        """Say that the bells of these slots are answered: the next push rings again."""
        asked = {"queue_id": self.queue_id, "numbers": json.dumps(sorted(numbers))}
        execute(sql.unring(dialect()), asked)

    def due(self, most: int) -> int:
        """Count the jobs that may start now, no further than `most`."""
        [[count]] = execute(sql.due(dialect()), {"queue_id": self.queue_id, "jobs": most}).rows
        return count

    def reserve(self, free: list[HeldSlot], belonging: Belonging) -> list[Started]:
        """Reserve a due job for each of these slots, as far as there are some.

        On PostgreSQL those that belong here are started by the same statement.
        """
        return self._reserved(execute(_begin(), self._asked(free, belonging)))

    def _asked(self, free: list[HeldSlot], belonging: Belonging) -> dict[str, Any]:
        return {
            "queue_id": self.queue_id,
            "worker": self.worker,
            "slots": _json(free),
            "jobs": len(free),
            **vars(belonging),
        }

    def _reserved(self, result: Result) -> list[Started]:
        reserved = []
        for row in result.rows:
            *columns, slot_id, now, revision, status = row
            job, is_begun = Reserved(*columns), status == "progress"
            reserved.append(Started(job, self.slots[slot_id], now, revision, is_begun))
        return [each for each in reserved if each.is_begun or not _is_expired(each)]

    def give_back(self, reserved: list[Started]) -> None:
        if reserved:
            slots = _json([each.slot for each in reserved])
            execute(sql.give_back(dialect()), {"slots": slots})

    def start(self, reserved: list[Started]) -> list[Started]:
        """Show jobs as running; return those that nobody has aborted or deleted meanwhile."""
        waiting = [each for each in reserved if not each.is_begun]
        started = self._start(waiting) if waiting else set()
        return [each for each in reserved if each.is_begun or each.job.id in started]

    def _start(self, reserved: list[Started]) -> set[int]:
        asked = {
            "slots": _json([each.slot for each in reserved]),
            "jobs": json.dumps([each.job.id for each in reserved]),
            "worker": self.worker,
        }
        d = dialect()
        if d.vendor == "postgresql":
            return {row[0] for row in execute(sql.start_and_record(d), asked).rows}
        with atomic():
            started = {row[0] for row in execute(sql.start(d), asked).rows}
            asked["started"] = json.dumps(list(started))
            execute(sql.record_starts(d), asked)
        return started

    def still_ours(self, running: list[Started]) -> set[int]:
        """Return the ids of those that nobody has aborted or deleted."""
        slots = _json([each.slot for each in running])
        jobs = json.dumps([each.job.id for each in running])
        rows = execute(sql.still_ours(dialect()), {"slots": slots, "jobs": jobs}).rows
        return {row[0] for row in rows}

    def record(self, ended: list[Ended]) -> set[int]:
        """Record results of jobs in any of the slots; return the ids that were accepted."""
        return self.record_and_reserve(ended, [], Belonging(""))[0]

    def record_and_reserve(
        self, ended: list[Ended], free: list[HeldSlot], belonging: Belonging
    ) -> tuple[set[int], list[Started]]:
        """Record results, and reserve for these slots: on PostgreSQL in one message.

        The slots may be those of the jobs that have ended.
        """
        accepted: set[int] = set()
        for started, result in ended:
            if _needs_more(result):
                accepted |= outcomes.record_all(started.slot, [result], self.worker)
        simple = [pair for pair in ended if not _needs_more(pair[1])]
        if not simple:
            return accepted, self.reserve(free, belonging) if free else []
        d = dialect()
        facts = self._facts_of(simple, d)
        if d.vendor != "postgresql":
            with atomic():
                accepted |= self._finish(facts, d)
                begun = execute(_begin(), self._asked(free, belonging)) if free else Result([], 0)
            return accepted, self._reserved(begun)
        if not free:
            rows = execute(sql.finish_postgresql(d), facts).rows
            return accepted | _followed(rows), []
        statements = [sql.finish_postgresql(d), sql.begin_each(d)]
        finished, begun = execute_each(statements, self._asked(free, belonging) | facts)
        return accepted | _followed(finished.rows), self._reserved(begun)

    def make_suspect(self, jobs: list[int]) -> None:
        """Let these run alone the next time: one of them may have ended their process."""
        waiting = QueuedJob.objects.filter(pk__in=jobs, status=Status.PENDING)
        waiting.update(suspect=True)

    def _facts_of(self, ended: list[Ended], d: Dialect) -> dict[str, Any]:
        rows = [
            {**outcome_row(result, d).row, "slot_id": each.slot.id, "slot_epoch": each.slot.epoch}
            for each, result in ended
        ]
        told = json.dumps(rows, ensure_ascii=False)
        return {"queue_id": self.queue_id, "worker": self.worker, "outcomes": told}

    def _finish(self, facts: dict[str, Any], d: Dialect) -> set[int]:
        """Record results on SQLite, in the caller's transaction."""
        finish_jobs, record_runs, count = sql.finish_sqlite(d)
        accepted = _followed(execute(finish_jobs, facts).rows)
        told = {**facts, "accepted": json.dumps(sorted(accepted))}
        execute(record_runs, told)
        execute(count, told)
        return accepted


def _followed(rows: list[Any]) -> set[int]:
    """Look after those that wait for one of these; return the ids of all."""
    follow_ends(row[0] for row in rows if row[2])
    return {row[0] for row in rows}


def _begin() -> str:
    d = dialect()
    return sql.begin_each(d) if d.vendor == "postgresql" else sql.reserve_each(d)


def _is_expired(each: Started) -> bool:
    """End a job that may not start any more."""
    now = aware(each.now)
    assert now is not None
    return not without_expired(each.slot, [each.job], now)


def _needs_more(result: AttemptResult) -> bool:
    """Return whether more than its rows is to be written."""
    if result.transaction or result.abandoned or result.lines or result.job.line:
        return True
    return bool(result.job.success or result.job.failure)


def _json(slots: Any) -> str:
    return json.dumps([{"id": slot.id, "epoch": slot.epoch} for slot in slots])
