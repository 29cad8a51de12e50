"""Hold many slots of a queue, and write about many jobs at once."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.db.transaction import atomic

from atributo_site.core.database import dialect, execute
from atributo_site.core.errors import LeaseLost
from queues.logic.lifecycle import Status
from queues.models import QueuedJob
from queues.runs import outcomes
from queues.runs.outcome_rows import AttemptResult, outcome_row
from queues.runs.reservation import Reserved, aware, without_expired
from queues.runs.slots import HeldSlot, lease_seconds
from queues.shared.sql import statements as sql
from queues.sql.reserve import RESERVED


@dataclass
class Started:
    """A job whose row shows it as running, in a slot of its own."""

    job: Reserved
    slot: HeldSlot
    now: Any  # by the database, when it was reserved
    revision: int


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

    def due(self, most: int) -> int:
        """Count the jobs that may start now, no further than `most`."""
        [[count]] = execute(sql.due(dialect()), {"queue_id": self.queue_id, "jobs": most}).rows
        return count

    def reserve(self, free: list[HeldSlot]) -> list[Started]:
        """Reserve a due job for each of these slots, as far as there are some."""
        asked = {"queue_id": self.queue_id, "slots": _json(free), "jobs": len(free)}
        rows = execute(sql.reserve_each(dialect()), asked).rows
        reserved = []
        for row in rows:
            *columns, slot_id, now, revision = row
            job = Reserved(**dict(zip(RESERVED, columns, strict=True)))
            reserved.append(Started(job, self.slots[slot_id], now, revision))
        return [each for each in reserved if not _is_expired(each)]

    def give_back(self, reserved: list[Started]) -> None:
        if reserved:
            slots = _json([each.slot for each in reserved])
            execute(sql.give_back(dialect()), {"slots": slots})

    def start(self, reserved: list[Started]) -> list[Started]:
        """Show jobs as running; return those that nobody has aborted or deleted meanwhile."""
        asked = {
            "slots": _json([each.slot for each in reserved]),
            "jobs": json.dumps([each.job.id for each in reserved]),
            "worker": self.worker,
        }
        d = dialect()
        if d.vendor == "postgresql":
            started = {row[0] for row in execute(sql.start_and_record(d), asked).rows}
        else:
            with atomic():
                started = {row[0] for row in execute(sql.start(d), asked).rows}
                asked["started"] = json.dumps(list(started))
                execute(sql.record_starts(d), asked)
        return [each for each in reserved if each.job.id in started]

    def still_ours(self, running: list[Started]) -> set[int]:
        """Return the ids of those that nobody has aborted or deleted."""
        slots = _json([each.slot for each in running])
        jobs = json.dumps([each.job.id for each in running])
        rows = execute(sql.still_ours(dialect()), {"slots": slots, "jobs": jobs}).rows
        return {row[0] for row in rows}

    def record(self, ended: list[tuple[Started, AttemptResult]]) -> set[int]:
        """Record results of jobs in any of the slots; return the ids that were accepted."""
        simple = [pair for pair in ended if not _needs_more(pair[1])]
        accepted = self._record_simple(simple) if simple else set()
        for started, result in ended:
            if _needs_more(result):
                accepted |= outcomes.record_all(started.slot, [result], self.worker)
        return accepted

    def make_suspect(self, jobs: list[int]) -> None:
        """Let these run alone the next time: one of them may have ended their process."""
        waiting = QueuedJob.objects.filter(pk__in=jobs, status=Status.PENDING)
        waiting.update(suspect=True)

    def _record_simple(self, ended: list[tuple[Started, AttemptResult]]) -> set[int]:
        d = dialect()
        rows = [
            {**outcome_row(result, d).row, "slot_id": each.slot.id, "slot_epoch": each.slot.epoch}
            for each, result in ended
        ]
        facts = {"queue_id": self.queue_id, "worker": self.worker}
        facts["outcomes"] = json.dumps(rows, ensure_ascii=False)
        if d.vendor == "postgresql":
            return {row[0] for row in execute(sql.finish_postgresql(d), facts).rows}
        finish_jobs, record_runs, count = sql.finish_sqlite(d)
        with atomic():
            accepted = [row[0] for row in execute(finish_jobs, facts).rows]
            facts["accepted"] = json.dumps(accepted)
            execute(record_runs, facts)
            execute(count, facts)
        return set(accepted)


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
