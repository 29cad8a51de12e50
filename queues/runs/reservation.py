"""Reserve due jobs for a slot. Their rows do not show them as running yet."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

import structlog
from django.db import IntegrityError

from atributo_site.core.database import (
    Row,
    dialect,
    execute,
    execute_together,
    in_index_order,
    listed,
)
from queues.flow import expiry, flows
from queues.flow.reserving import Taken, host, limits_of_scripts, take
from queues.flow.sql import statements as flow_sql
from queues.logic.arguments import of_callback
from queues.logic.lifecycle import Counts, Policy
from queues.logic.ranks import FLOW_RANKS, shared_rank
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
    limits: Any = None  # of its own push

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


def reserve(slot: HeldSlot, count: int, known: Sequence[Row] | None = None) -> Batch | None:
    """Reserve up to `count` due jobs in the order in which they start; None when there is none.

    Rows that are `known` were reserved when the slot was taken.
    """
    batch = reserved(slot, sql.reserve(dialect()), count, known=known)
    return within_flow(slot, count, batch, host(), [""])


def within_flow(
    slot: HeldSlot, count: int, batch: Batch | None, instance: str, stations: Sequence[str]
) -> Batch | None:
    """Let flow control decide about jobs that have limits; leave the others as they are."""
    if batch is not None:
        limited = limits_of_scripts(batch.revision)
        strays = [job for job in batch.jobs if _is_stray(job, slot, limited)]
        if not strays:
            return batch
        _put_in_flow(slot, strays)
        left = [job for job in batch.jobs if job not in strays]
        if left:
            return replace(batch, jobs=left)
    elif not slot.has_flow:
        return None
    for station in stations:
        if station and slot.has_flow:
            flows.adopt_strays(slot.queue_id, station)
    return _reserved_in_flow(slot, count, instance, stations)


def _is_stray(job: Reserved, slot: HeldSlot, limited: Mapping[str, Any]) -> bool:
    """Return whether a job that was pushed as one without limits has some now."""
    if job.parent is not None:
        return False
    if slot.has_flow or job.limits:
        return True
    return bool(limited) and f"{job.mount}/{job.script}" in limited


def _put_in_flow(slot: HeldSlot, jobs: list[Reserved]) -> None:
    d, by_flow = dialect(), {_flow_of(job) for job in jobs}
    for name in by_flow:
        ids = [job.id for job in jobs if _flow_of(job) == name]
        flow_id = flows.ensure(slot.queue_id, *name)
        asked = {**slot.key, "ids": listed(ids), "flow_id": flow_id}
        execute(flow_sql.put_in_flow(d), asked)
        flows.wake(slot.queue_id, [flow_id])


def _flow_of(job: Reserved) -> tuple[str, str, str, str]:
    return job.flow_key or "", job.mount, job.script, job.routed_to or ""


def _reserved_in_flow(
    slot: HeldSlot, count: int, instance: str, stations: Sequence[str]
) -> Batch | None:
    while (taken := _take(slot, count, instance, stations)) is not None:
        jobs = [Reserved(*row) for row in taken.rows]
        now = aware(taken.now)
        assert now is not None
        started = without_expired(slot, jobs, now)
        if len(started) < len(jobs):
            flows.wake(slot.queue_id, [job.flow_id or 0 for job in jobs], ended=True)
        if started:
            return Batch(started, now, taken.revision, taken.record_start)
    return None


def _take(slot: HeldSlot, count: int, instance: str, stations: Sequence[str]) -> Taken | None:
    """Decide again if a job of the same sticky key was reserved in another queue meanwhile."""
    for _ in range(TRIES):
        try:
            return take(slot.queue_id, slot.key, count, instance, stations)
        except IntegrityError:
            log.debug("key_held_meanwhile", slot=slot.id)
    return None  # the sweep rings again


def wake_flows(queue_id: int, jobs: Iterable[Reserved], *, for_good: bool = False) -> Counter[str]:
    """Let others of the same limits start, now that these jobs are not held any more.

    With `for_good` none of them waits again. Return how many flows may start at each station; the
    empty name stands for any worker.
    """
    ids = {job.flow_id for job in jobs if job.flow_id is not None}
    least = FLOW_RANKS[-1] if for_good else None
    return flows.wake(queue_id, ids, ended=True, least=least) if ids else Counter()


def wake_given_back(queue_id: int, jobs: Iterable[Reserved]) -> None:
    """Do the same when the jobs may start at once, as before they were reserved."""
    ranks = {job.flow_id: job.rank for job in jobs if job.flow_id is not None}
    if ranks:
        flows.wake(queue_id, ranks, ended=True, least=min(ranks.values()))


def reserve_callback(slot: HeldSlot) -> Batch | None:
    """Reserve the next callback, whatever else waits."""
    return reserved(slot, sql.reserve_callbacks(dialect()), 1)


def reserved(
    slot: HeldSlot,
    statement: str,
    count: int,
    *,
    station: str = "",
    known: Sequence[Row] | None = None,
) -> Batch | None:
    asked = {**slot.key, "queue_id": slot.queue_id, "jobs": count, "station": station}
    rows = _rows(statement, asked) if known is None else known
    while rows:
        *_, now, revision, record_start = rows[0]
        jobs = [Reserved(*row[:-3]) for row in rows]
        moment = aware(now)
        assert moment is not None
        jobs = without_expired(slot, jobs, moment)
        if jobs:
            jobs.sort(key=lambda job: (shared_rank(job.rank), job.due_at, job.id))
            return Batch(jobs, moment, revision, bool(record_start))
        rows = _rows(statement, asked)
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
            return execute_together(in_index_order(dialect(), statement), asked).rows
        except IntegrityError:
            log.debug("key_held_meanwhile", slot=asked["slot_id"])
    return []  # the sweep rings again


def aware(value: Any) -> datetime | None:
    """Read a moment as SQLite or PostgreSQL returns it."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value
