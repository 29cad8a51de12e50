"""Reserve due jobs for a slot. Their rows do not show them as running yet."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

import structlog
from django.db import IntegrityError

from atributo_site.core.database import dialect, execute
from queues.flow import expiry, flows
from queues.flow.reserving import host, limits_of_scripts, take
from queues.flow.sql import statements as flow_sql
from queues.logic.arguments import of_callback
from queues.logic.lifecycle import Counts, Policy
from queues.logic.ranks import shared_rank
from queues.runs import turns
from queues.runs.attempt import Attempt
from queues.runs.slots import HeldSlot
from queues.sql import reserve as sql

TRIES = 3
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Reserved:
    id: int
    mount: str
    script: str
    data: str | None
    attempt: int  # before this one
    runs: int
    run_failures: int
    lost: int
    max_failures: int
    repeat_times: int
    repeat_until: Any
    repeat_delay_ms: int
    back_off: str
    timeout_ms: int | None
    success: str | None
    failure: str | None
    rank: int
    due_at: Any
    suspect: bool
    parent: int | None
    parent_run: int | None
    expires_at: Any
    sticky_key: str | None = None
    routed_to: str | None = None
    routed_epoch: int | None = None
    concurrent: bool = False
    flow_id: int | None = None
    flow_key: str | None = None

    @property
    def line(self) -> str | None:
        """The sticky key whose other jobs wait for this one."""
        return None if self.concurrent else self.sticky_key

    @property
    def policy(self) -> Policy:
        return Policy(
            self.max_failures, self.repeat_times, aware(self.repeat_until), self.repeat_delay_ms
        )

    @property
    def counts(self) -> Counts:
        return Counts(self.runs, self.run_failures, self.lost)

    def attempt_in(self, slot: HeldSlot) -> Attempt:
        """Return the attempt that this hold of the slot makes."""
        return Attempt(self.id, self.attempt + 1, slot.id, slot.epoch)

    def work(self, revision: int, slot: HeldSlot) -> dict[str, Any]:
        """Return what the child is sent."""
        return {
            "mount": self.mount,
            "script": self.script,
            "data": self.data if self.parent is None else of_callback(self.data),
            "run_failures": self.run_failures,
            "back_off": json.loads(self.back_off),
            "timeout_ms": self.timeout_ms,
            "revision": revision,
            "job": {
                "id": str(self.id),
                "attempt": self.attempt + 1,
                "run": self.runs + 1,
                **self._placement(),
            },
            "slot": [slot.id, slot.epoch],
        }

    def _placement(self) -> dict[str, Any]:
        """Return where a sticky job runs, with the epoch that fences its writes elsewhere."""
        if self.sticky_key is None:
            return {}
        placed = {"instance": self.routed_to, "epoch": self.routed_epoch}
        return {"sticky_key": self.sticky_key, **placed}


@dataclass(frozen=True, slots=True)
class Batch:
    jobs: list[Reserved]
    now: datetime  # by the database, when they were reserved
    revision: int  # of the installed services
    record_start: bool = False  # of every job of this queue, before it begins

    def before(self, is_alone: Callable[[Reserved], bool]) -> "Batch":
        """Return the jobs before the first that has to begin alone."""
        alone = (number for number, job in enumerate(self.jobs) if is_alone(job))
        return replace(self, jobs=self.jobs[: max(1, next(alone, len(self.jobs)))])

    def within(self, size: int) -> "Batch":
        """Return the first jobs whose data fits in so many characters, at least one."""
        sums = accumulate(len(job.data or "") for job in self.jobs)
        count = sum(1 for total in sums if total <= size)
        return replace(self, jobs=self.jobs[: max(1, count)])


def reserve(slot: HeldSlot, count: int) -> Batch | None:
    """Reserve up to `count` due jobs in the order in which they start; None when there is none."""
    return within_flow(slot, count, reserved(slot, sql.reserve(dialect()), count), host())


def within_flow(slot: HeldSlot, count: int, batch: Batch | None, instance: str) -> Batch | None:
    """Let flow control decide about jobs that have limits; leave the others as they are."""
    limited = limits_of_scripts(batch.revision) if batch is not None else {}
    if not slot.has_flow and not limited:
        return batch
    if batch is not None:
        strays = [job for job in batch.jobs if _is_stray(job, slot, limited)]
        if not strays:
            return batch
        _put_in_flow(slot, strays)
        left = [job for job in batch.jobs if job not in strays]
        if left:
            return replace(batch, jobs=left)
    if slot.has_flow:
        flows.adopt_strays(slot.queue_id)
    return _reserved_in_flow(slot, count, instance)


def _is_stray(job: Reserved, slot: HeldSlot, limited: Mapping[str, Any]) -> bool:
    """Return whether a job that was pushed as one without limits has some now."""
    if job.parent is not None or job.sticky_key is not None:
        return False
    return slot.has_flow or f"{job.mount}/{job.script}" in limited


def _put_in_flow(slot: HeldSlot, jobs: list[Reserved]) -> None:
    d, by_script = dialect(), {(job.mount, job.script) for job in jobs}
    for mount, script in by_script:
        ids = [job.id for job in jobs if (job.mount, job.script) == (mount, script)]
        flow_id = flows.ensure(slot.queue_id, "", mount, script)
        asked = {**slot.key, "ids": flows.listed(ids), "flow_id": flow_id}
        execute(flow_sql.put_in_flow(d), asked)
        flows.wake(slot.queue_id, [flow_id])


def _reserved_in_flow(slot: HeldSlot, count: int, instance: str) -> Batch | None:
    while (taken := take(slot.queue_id, slot.key, count, instance)) is not None:
        names = [*sql.RESERVED, *flow_sql.COLUMNS]
        jobs = [Reserved(**dict(zip(names, row, strict=True))) for row in taken.rows]
        now = aware(taken.now)
        assert now is not None
        started = without_expired(slot, jobs, now)
        if len(started) < len(jobs):
            flows.wake(slot.queue_id, [job.flow_id or 0 for job in jobs], ended=True)
        if started:
            return Batch(started, now, taken.revision, taken.record_start)
    return None


def wake_flows(queue_id: int, jobs: Iterable[Reserved]) -> int:
    """Let others of the same limits start, now that these jobs are not held any more."""
    ids = {job.flow_id for job in jobs if job.flow_id is not None}
    return flows.wake(queue_id, ids, ended=True) if ids else 0


def reserve_callback(slot: HeldSlot) -> Batch | None:
    """Reserve the next callback, whatever else waits."""
    return reserved(slot, sql.reserve_callbacks(dialect()), 1)


def reserved(slot: HeldSlot, statement: str, count: int, *, station: str = "") -> Batch | None:
    asked = {**slot.key, "queue_id": slot.queue_id, "jobs": count, "station": station}
    while rows := _rows(statement, asked):
        *_, now, revision, record_start = rows[0]
        jobs = [Reserved(*row[:-3]) for row in rows]
        moment = aware(now)
        assert moment is not None
        jobs = without_expired(slot, jobs, moment)
        if jobs:
            jobs.sort(key=lambda job: (shared_rank(job.rank), job.due_at, job.id))
            return Batch(jobs, moment, revision, bool(record_start))
    return None


def without_expired(slot: HeldSlot, jobs: list[Reserved], now: datetime) -> list[Reserved]:
    """End the jobs that may not start any more, and return the others."""
    over = [job for job in jobs if expiry.is_over(aware(job.expires_at), job.attempt, now)]
    if not over:
        return jobs
    expiry.expire_held([job.id for job in over], slot.id, slot.epoch)
    lines = [turns.Line(slot.queue_id, job.line) for job in over if job.line]
    turns.pass_on_and_ring(lines)
    return [job for job in jobs if job not in over]


def _rows(statement: str, asked: dict[str, Any]) -> list[Any]:
    """Reserve again if a job of the same sticky key was reserved in another queue meanwhile."""
    for _ in range(TRIES):
        try:
            return execute(statement, asked).rows
        except IntegrityError:
            log.debug("key_held_meanwhile", slot=asked["slot_id"])
    return []  # the sweep rings again


def aware(value: Any) -> datetime | None:
    """Read a moment as SQLite or PostgreSQL returns it."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value
