"""Run the jobs of one slot until its queue is empty or its time slice is over.

Jobs are reserved and run in batches. Results of short jobs are written with their batch; a job that
takes longer is first shown as running, and then watched by a RunMonitor.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection

from atributo_site.core.errors import LeaseLost
from queues.children.child_process import Workhorse
from queues.children.protocol import ChildGone
from queues.children.waits import Steps, Wait, followed
from queues.logic.lifecycle import ABORTED, Outcome
from queues.models import Script
from queues.runs import abandoned, outcomes
from queues.runs.doorbell import call_any
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import (
    Batch,
    Reserved,
    reserve,
    reserve_callback,
    wake_given_back,
)
from queues.runs.slots import HeldSlot, lease_seconds
from queues.worker.run_monitor import RunMonitor

log = structlog.get_logger(__name__)

SHORT_SECONDS = 0.02  # what ends sooner is written with its batch
LOOK_SECONDS = 0.005  # between two looks whether the rest of a batch may still begin
SLICE_SECONDS = 5.0  # then the other queues have their turn
LARGEST_BATCH = 256
FILLED = 0.9  # of that time, so that little of a batch is given back
LARGEST_MESSAGE = 1024 * 1024  # characters of data: while it is handed over no lease is renewed
DATABASE_PAUSE_SECONDS = 0.1


@lru_cache(maxsize=1)
def recorded_scripts(revision: int) -> frozenset[tuple[str, str]]:
    """Return mount and name of the scripts whose manifest wants their start recorded.

    They are read again when a service changes, which raises the revision.
    """
    asking = Script.objects.filter(record_start=True)
    return frozenset(asking.values_list("service__mount", "name"))


@dataclass
class SlotRunner:
    slot: HeldSlot
    workhorse: Workhorse
    worker: str
    keep_alive: Callable[[], None]  # the worker's own presence
    is_stopping: Callable[[], bool]
    is_called: Callable[[], bool] = lambda: False
    reserve: Callable[[HeldSlot, int], Batch | None] = reserve
    call: Callable[[HeldSlot], None] = call_any  # for work of this queue that it leaves
    is_wanted: Callable[[], bool] = lambda: False  # another queue must not wait
    has_others: Callable[[], bool] = lambda: False  # other queues wait, which is no hurry
    is_halted: Callable[[], bool] = lambda: False  # no further job may begin
    show: Callable[[Reserved], None] = lambda job: None  # a job is shown as running
    count: Callable[[list[AttemptResult]], None] = lambda results: None  # jobs that have ended
    size: int = 1  # of the next batch
    left: list[str] | None = None  # once the slot is left: the stations that have work of its queue
    _is_last: bool = False  # nothing is to be asked for after this batch
    _leaves: bool = False  # nor is anything given back
    _renewed: float = field(init=False)

    def __post_init__(self) -> None:
        self._renewed = self.slot.taken_at

    def run(self) -> bool:
        """Return whether work may be left; LeaseLost is raised when the slot went to another."""
        return followed(self.steps())

    def steps(self) -> Steps[bool]:
        """Do the same in steps."""
        over = time.monotonic() + SLICE_SECONDS
        is_over = False
        while not self.is_stopping():
            size = self.size
            # A callback follows its run at once, though the time slice is over.
            batch = reserve_callback(self.slot) if is_over else self.reserve(self.slot, self.size)
            if batch is None:
                return is_over
            has_callbacks = any(job.success or job.failure for job in batch.jobs)
            is_all = len(batch.jobs) < size and not has_callbacks
            self._is_last = is_all and self.has_others()
            yield from self._run_batch(batch)
            self.keep_alive()
            if self._is_last:
                return is_over  # whoever leaves the slot looks once more
            is_over = is_over or time.monotonic() > over or self.is_wanted()
            if is_over and not has_callbacks:
                return True
        return True

    def _run_batch(self, batch: Batch) -> Steps[None]:
        """Run a batch; nothing of it is held any more when this returns."""
        is_recorded = self._recorded_before(batch)
        progress = BatchProgress(self._first_of(batch, is_recorded), time.monotonic())
        self._leaves = self._is_last and len(progress.batch.jobs) == len(batch.jobs)
        others = len(batch.jobs) > 1
        if is_recorded(batch.jobs[0]) and not self._record_first(progress, others):
            return
        deadline = time.monotonic() + SHORT_SECONDS
        work = [job.work(batch.revision, self.slot) for job in progress.batch.jobs]
        until = self._renewed + lease_seconds()
        self.workhorse.give(work, deadline, until, self._notes(progress))
        try:
            yield from self._follow(progress, deadline)
        except LeaseLost:
            self.workhorse.kill()
            outcomes.count_refused(self.slot, len(progress.results))
            raise
        if len(progress.batch.jobs) < len(batch.jobs):
            self.slot.give_back()
            wake_given_back(self.slot.queue_id, batch.jobs)

    def _first_of(self, batch: Batch, is_recorded: Callable[[Reserved], bool]) -> Batch:
        """Return the jobs that are handed over together; no more are reserved the next time."""
        first = batch.before(is_recorded).within(LARGEST_MESSAGE)
        if len(first.jobs) < len(batch.jobs):
            self.size = len(first.jobs)
        return first

    def _recorded_before(self, batch: Batch) -> Callable[[Reserved], bool]:
        """Return a test for the jobs whose start is recorded before they begin.

        These are jobs that ask for it, and all while nothing can be noted in Redis.
        """
        if batch.record_start or not self.workhorse.takes_notes():
            return lambda job: True
        recorded = recorded_scripts(batch.revision)
        return lambda job: job.suspect or (job.mount, job.script) in recorded

    def _notes(self, progress: "BatchProgress") -> dict[str, Any]:
        """Return what the child needs to take notes about the jobs it starts."""
        return {
            "key": self.slot.notes_key,
            "clock": [progress.batch.now.isoformat(), progress.since],
            "worker": self.worker,
            "required": not progress.is_shown,
        }

    def _record_first(self, progress: "BatchProgress", others: bool) -> bool:
        """Show it as running before it begins, and roll back what earlier attempts left."""
        first, asked_at = progress.batch.jobs[0], time.monotonic()
        progress.is_shown = outcomes.record_start(self.slot, first, self.worker, 0.0)
        self._renewed = asked_at
        if progress.is_shown:
            self.show(first)
        else:
            self.slot.give_back()
        if others:
            wake_given_back(self.slot.queue_id, progress.batch.jobs)
            self.call(self.slot)
        stuck = abandoned.left_by_earlier_attempts(first) if progress.is_shown else []
        if stuck:
            progress.child_died(stuck[0])
            self._store(progress)
        return progress.is_shown and not stuck

    def _follow(self, progress: "BatchProgress", deadline: float) -> Steps[None]:
        while progress.unstarted() and not progress.is_shown:
            is_long_at = max(deadline, progress.begun + SHORT_SECONDS) + SHORT_SECONDS / 4
            left = max(0.0, is_long_at - time.monotonic())
            is_look = left > LOOK_SECONDS and self._has_more_to_begin(progress)
            try:
                message = yield Wait(self.workhorse, LOOK_SECONDS if is_look else left)
            except ChildGone:
                how = self.workhorse.reap()
                progress.child_died(f"the process was {how}", self.workhorse.last_lines())
                break
            if message is not None and message["t"] == "stopped":
                break
            if message is not None:
                progress.receive(message)
            if self._has_more_to_begin(progress) and self.is_halted():
                self._take_back(progress)
            if message is None and not is_look and not self._has_begun_more(progress):
                self._show_as_running(progress)
                break
        if progress.is_shown:
            yield from self._monitor(progress)
        else:
            self._finish(progress)

    def _has_begun_more(self, progress: "BatchProgress") -> bool:
        """Return whether the child has begun more jobs than it has reported yet."""
        return progress.number != self._take_back(progress) - 1

    def _has_more_to_begin(self, progress: "BatchProgress") -> bool:
        return progress.to_begin is None and progress.number + 1 < len(progress.batch.jobs)

    def _take_back(self, progress: "BatchProgress") -> int:
        """Let the child begin no more jobs; return how many of the batch it has begun."""
        if progress.to_begin is None:
            progress.to_begin = len(progress.batch.jobs) - self.workhorse.revoke()
        return progress.to_begin

    def _show_as_running(self, progress: "BatchProgress") -> None:
        """Show the current job, which takes longer; store what has ended, free the others."""
        if progress.results:
            self._store(progress)
        ago = time.monotonic() - progress.begun
        progress.is_shown = outcomes.record_start(self.slot, progress.current, self.worker, ago)
        self.size = 1
        if not progress.is_shown:  # aborted or deleted at the last moment
            self._drop_current(progress)
            return
        self.show(progress.current)
        if progress.number + 1 < len(progress.batch.jobs):
            wake_given_back(self.slot.queue_id, progress.batch.jobs)
            self.call(self.slot)

    def _drop_current(self, progress: "BatchProgress") -> None:
        """End the current job, which was aborted or deleted; record that it began."""
        self.workhorse.kill()
        progress.end_current(Outcome.ABORTED, ABORTED)
        self._store(progress)

    def _monitor(self, progress: "BatchProgress") -> Steps[None]:
        result = yield from RunMonitor(
            self.slot,
            progress.current,
            self.workhorse,
            progress.begun,
            progress.moment,
            self.keep_alive,
            self.is_stopping,
            self.is_called,
        ).watch(progress.lines, progress.reported, progress.transaction)
        if result is not None:
            progress.results = [result]
            self._store(progress)
        else:
            self.count([progress.dropped()])
        if self.workhorse.is_over_memory_limit():
            self.workhorse.kill()

    def _finish(self, progress: "BatchProgress") -> None:
        if progress.results:
            self._store(progress, leave=self._leaves and not progress.unstarted())
        self._adapt(progress)
        if progress.unstarted():
            self.slot.give_back()
            wake_given_back(self.slot.queue_id, progress.batch.jobs)
            self.call(self.slot)
        if self.workhorse.is_over_memory_limit():
            self.workhorse.kill()

    def _store(self, progress: "BatchProgress", *, leave: bool = False) -> None:
        """Write the results; wait for a database that is away while the lease lasts."""
        give_up = time.monotonic() + lease_seconds()
        is_again = False
        while True:
            asked_at = time.monotonic()
            try:
                if is_again:
                    accepted = self._record_again(progress.results)
                elif leave:
                    done = outcomes.record_and_leave(self.slot, progress.results, self.worker)
                    accepted, self.left = done
                else:
                    accepted = outcomes.record_all(self.slot, progress.results, self.worker)
                break
            except (OperationalError, InterfaceError):
                if time.monotonic() > give_up:
                    raise
                is_again = True
                connection.close()
                time.sleep(DATABASE_PAUSE_SECONDS)
        self._renewed = asked_at
        self.count(progress.results)
        refused = len(progress.results) - len(accepted)
        if refused:
            outcomes.count_refused(self.slot, refused)
        progress.results = []

    def _record_again(self, results: list[AttemptResult]) -> set[int]:
        """Record results that may be stored already; the slot may even be left."""
        try:
            accepted = outcomes.record_all(self.slot, results, self.worker)
        except LeaseLost:
            accepted = set()
            if len(outcomes.recorded_before(results, self.worker)) < len(results):
                raise
        # What was stored before its answer got lost is refused now.
        return accepted | outcomes.recorded_before(results, self.worker)

    def _adapt(self, progress: "BatchProgress") -> None:
        """Take as many jobs at once as fit the time in which a short one must end.

        That counts what the child does between them, too: the rest would be given back.
        """
        seconds = progress.begun - progress.since
        fit = int(progress.number * FILLED * SHORT_SECONDS / seconds) if seconds > 0 else 0
        if progress.unstarted() or seconds > SHORT_SECONDS:
            self.size = max(1, self.size // 2, min(self.size, fit))
        elif seconds < SHORT_SECONDS / 2:
            self.size = min(LARGEST_BATCH, self.size * 2)
        else:
            self.size = min(LARGEST_BATCH, max(self.size, fit))


@dataclass
class BatchProgress:
    """How far the child is in a batch, by the messages that it sent."""

    batch: Batch
    since: float
    number: int = 0
    to_begin: int | None = None  # once its tokens are taken back: how many jobs it begins
    is_shown: bool = False  # its row says that the current job runs
    seconds: float = 0.0  # what the scripts themselves took
    results: list[AttemptResult] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    reported: dict[str, Any] | None = None  # the progress that the current job has reported
    transaction: tuple[int, int] | None = None  # which the current job has begun
    begun: float = field(default_factory=time.monotonic)

    @property
    def current(self) -> Reserved:
        return self.batch.jobs[self.number]

    def moment(self, monotonic: float) -> datetime:
        """Return a moment by the database's clock, counted on from when the batch was reserved."""
        return self.batch.now + timedelta(seconds=monotonic - self.since)

    def unstarted(self) -> bool:
        return self.number < len(self.batch.jobs)

    def receive(self, message: dict[str, Any]) -> None:
        if message["t"] == "log":
            self.lines.append({**message, "moment": self.moment(message["at"])})
        elif message["t"] == "progress":
            self.reported = message
        elif message["t"] == "transaction":
            self.transaction = (message["id"], message["epoch"])
        else:
            self.results.append(attempt_result(self, message))
            self.seconds += message["seconds"]
            self._advance(message["begun"] + message["seconds"])

    def child_died(self, error: str, written: Sequence[dict[str, Any]] = ()) -> None:
        """Count the death of the child as a failure like any other."""
        for line in written:
            self.receive(line)
        self.end_current(Outcome.FAILED, error)

    def end_current(self, outcome: Outcome, error: str) -> None:
        """End the current job without a message of the child."""
        self.results.append(self._ended(outcome, error))
        self._advance(time.monotonic())

    def dropped(self) -> AttemptResult:
        """Return the end of a job that somebody aborted or deleted, which is recorded already."""
        return self._ended(Outcome.ABORTED, ABORTED)

    def _ended(self, outcome: Outcome, error: str) -> AttemptResult:
        return AttemptResult(
            self.current,
            outcome,
            self.moment(self.begun),
            self.moment(time.monotonic()),
            error=error,
            lines=self.lines,
            abandoned=True,
        )

    def _advance(self, begun: float) -> None:
        self.number += 1
        self.begun, self.lines, self.reported, self.transaction = begun, [], None, None


def attempt_result(progress: BatchProgress, message: dict[str, Any]) -> AttemptResult:
    """Return how the current job ended by the child's message."""
    reported = progress.reported or {"percent": None, "note": ""}
    result = AttemptResult(
        progress.current,
        Outcome.COMPLETE,
        progress.moment(message["begun"]),
        progress.moment(message["begun"] + message["seconds"]),
        percent=reported["percent"],
        note=reported["note"],
        lines=progress.lines,
    )
    result.end_by(message)
    return result
