"""Make the runner of a slot: within the worker's plan, seen by RQ, called away by others."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog

from atributo_site.core.database import Row
from atributo_site.core.errors import LeaseLost
from queues.children.child_process import Workhorse
from queues.children.waits import Steps
from queues.runs.cancellation import CancelChannel
from queues.runs.doorbell import Bell
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import Batch, reserve
from queues.runs.slots import HeldSlot, acquire, acquire_with_jobs
from queues.runs.stations import ring_queue
from queues.shared.belonging import threads_of
from queues.shared.holding import Holding
from queues.shared.runner import SharedRunner
from queues.worker.lanes import Lane, Lanes
from queues.worker.notes_reader import forget
from queues.worker.plan import Allowance
from queues.worker.rq_record import RQRecord
from queues.worker.slot_runner import SlotRunner

log = structlog.get_logger(__name__)
MOST_SIZES = 10_000
MOST_OVER = 50
HOLD_OFF_SECONDS = 0.5  # of a queue whose jobs find no process that runs many
TURN_SECONDS = 0.5  # of a queue that did not wait for its turn, while others do
Reserve = Callable[[HeldSlot, int], Batch | None]


class Left(NamedTuple):
    """What a worker knows of a queue when it has left its slot."""

    is_slice_over: bool  # not everything was done because its time was over
    waiting: list[str]  # the stations that the queue has work for; "" stands for any worker


@dataclass
class Runners:
    worker: str
    rq: RQRecord
    allowance: Allowance
    cancellations: CancelChannel
    keep: Callable[[], None]
    is_stopping: Callable[[], bool]
    is_called_away: Callable[[HeldSlot], bool]
    is_turn_over: Callable[[], bool]  # others wait for their turn
    look_soon: Callable[[], None]  # jobs may wait that no bell calls to
    has_others: Callable[[], bool] = lambda: False  # as far as the last bell told
    is_weighed: bool = False  # queues have their turns by weights
    shares: bool = True  # it serves no instance: it has processes that run many jobs
    found: dict[int, tuple[str, int]] = field(default_factory=dict)  # by slot: where jobs belong
    _shared: dict[tuple[int, str], list[SharedRunner]] = field(default_factory=dict)
    not_before: dict[str, float] = field(default_factory=dict)
    _is_wanted: bool = False  # jobs of another queue wait for a process that runs many
    _sizes: dict[str, int] = field(default_factory=dict)  # of the batches of each queue
    _over: list[str] = field(default_factory=list)  # the keys of notes that nobody needs any more
    _last_size: int = 1
    _cancelled: int = 0  # how often somebody has aborted or deleted jobs

    def take(self, workhorse: Workhorse, bell: Bell, holder: str) -> SlotRunner | None:
        """Take the slot that a bell calls to, mostly with its first jobs; None if it is not free.

        Which jobs an instance may run is known to those who serve it.
        """
        size = self._sizes.get(bell.queue, self._last_size)
        granted = self.allowance.granted(workhorse, size) if self.shares else 0
        if not granted or self.rq.is_suspended():
            slot = acquire(bell.queue, bell.slot, holder)
            return None if slot is None else self._runner(workhorse, slot, [], size, bell.first)
        taken = acquire_with_jobs(bell.queue, bell.slot, holder, granted)
        if taken is None:
            return None
        slot, rows = taken
        return self._runner(workhorse, slot, [rows], size, bell.first)

    def _runner(
        self,
        workhorse: Workhorse,
        slot: HeldSlot,
        known: list[list[Row]],
        size: int,
        is_first: bool,
    ) -> SlotRunner:
        is_turn_over = _turns(self.is_turn_over) if is_first or self.is_weighed else lambda: False
        return SlotRunner(
            slot,
            workhorse,
            self.worker,
            self.keep,
            self.is_stopping,
            self.cancellation(),
            reserve=self.within_plan(workhorse, _known_first(known)),
            is_wanted=lambda: self.is_called_away(slot) or is_turn_over(),
            has_others=self.has_others,
            is_halted=self.rq.is_suspended,
            show=self.rq.begin_job,
            count=lambda results: self._count(workhorse, results),
            size=size,
        )

    def run(self, runner: SlotRunner) -> Steps[Left | None]:
        """Run a slot and leave it; None when it went to another meanwhile."""
        try:
            more = yield from runner.steps()
        except LeaseLost as error:
            log.warning("slot_lost", error=str(error))
            return None
        finally:
            self._remember_size(runner.slot.queue, runner.size)
        # Everything that began is recorded.
        waiting = runner.slot.leave() if runner.left is None else runner.left
        self._forget_soon(runner.slot.notes_key)
        return Left(more, waiting)

    def _forget_soon(self, notes_key: str) -> None:
        """Delete the notes of many slots together."""
        self._over.append(notes_key)
        if len(self._over) >= MOST_OVER:
            self.forget_notes()

    def forget_notes(self) -> None:
        """Delete the notes of the slots that were left."""
        if self._over:
            forget(*self._over)
            self._over.clear()

    def _remember_size(self, queue: str, size: int) -> None:
        """Begin with as many jobs as this queue, or else the one before, had in a batch at last."""
        if len(self._sizes) >= MOST_SIZES:
            self._sizes.clear()
        self._sizes[queue] = self._last_size = size

    def within_plan(self, lane: object, way: Reserve) -> Reserve:
        """Reserve no more jobs than the worker may take, and none while it is suspended."""

        def reserve_some(slot: HeldSlot, count: int) -> Batch | None:
            granted = self.allowance.granted(lane, count)
            if not granted or self.rq.is_suspended():
                return None
            batch = way(slot, granted)
            if batch is not None and self._is_for_many(slot, batch):
                slot.give_back()
                return None
            self.allowance.note_reserved(lane, len(batch.jobs) if batch else 0)
            return batch

        return reserve_some

    def cancellation(self) -> Callable[[], bool]:
        """Return a test whether somebody has cancelled jobs since it was last asked."""
        seen = self._cancelled

        def has_come() -> bool:
            nonlocal seen
            self._cancelled += self.cancellations.has_come()
            is_new, seen = seen != self._cancelled, self._cancelled
            return is_new

        return has_come

    def _is_for_many(self, slot: HeldSlot, batch: Batch) -> bool:
        """Return whether the next job belongs into a process that runs many."""
        first = batch.jobs[0]
        threads = threads_of(first, batch.revision) if self.shares else 1
        if threads == 1 or first.parent is not None:
            return False
        self.found[slot.id] = (first.mount, threads)
        return True

    def begin_many(self, lanes: Lanes, slot: HeldSlot, mount: str, threads: int) -> None:
        """Run many jobs of the queue in one process, unless one that runs has room for them."""
        beside = self._shared.setdefault((slot.queue_id, mount), [])
        if any(runner.has_room() for runner in beside):
            return
        lane = lanes.free_for(mount, threads)
        if lane is None:
            self._is_wanted = True
            self.not_before[slot.queue] = time.monotonic() + HOLD_OFF_SECONDS
        else:
            lane.begin(self._steps_of_many(lane, slot, mount, threads, beside))

    def is_answered(self, bell: Bell) -> bool:
        """Let a process that runs many jobs of the queue look for more, if there is one."""
        runners = [each for beside in self._shared.values() for each in beside]
        return any(each.answer(bell) for each in runners)

    def is_put_off(self, queue: str) -> bool:
        """Return whether the next jobs of a queue wait for a process that runs many."""
        return time.monotonic() < self.not_before.get(queue, 0.0)

    def _steps_of_many(
        self,
        lane: Lane,
        slot: HeldSlot,
        mount: str,
        threads: int,
        beside: list[SharedRunner],
    ) -> Steps[None]:
        runner = SharedRunner(
            Holding(slot.queue_id, slot.queue, slot.holder, self.worker),
            mount,
            threads,
            lane.shared_process(mount, threads),
            self.keep,
            self.is_stopping,
            self.cancellation(),
            self._has_others,
            lambda count, running: self._granted_beside(lane.workhorse, count, running),
            self.rq.note_job,
            lambda results: self._count(lane.workhorse, results),
            self.look_soon,
        )
        beside.append(runner)
        try:
            yield from runner.steps()
        except LeaseLost as error:
            log.warning("slots_lost", error=str(error))
        finally:
            beside.remove(runner)
            self.allowance.leave(lane.workhorse)
            self.not_before.clear()
        ring_queue(slot.queue_id, slot.queue, leftover=True)

    def _has_others(self) -> bool:
        is_wanted, self._is_wanted = self._is_wanted, False
        return is_wanted

    def _granted_beside(self, lane: object, count: int, running: int) -> int:
        granted = self.allowance.granted_beside(lane, count, running)
        return 0 if self.rq.is_suspended() else granted

    def _count(self, lane: object, results: list[AttemptResult]) -> None:
        self.allowance.note_ended(lane, len(results))
        self.rq.end_jobs(results)


def _known_first(known: list[list[Row]]) -> Reserve:
    """Begin with the jobs that were reserved when the slot was taken."""

    def reserve_known(slot: HeldSlot, count: int) -> Batch | None:
        return reserve(slot, count, known.pop() if known else None)

    return reserve_known


def _turns(others_wait: Callable[[], bool]) -> Callable[[], bool]:
    """Return a test whether a queue has had its turn and others wait for theirs."""
    until = time.monotonic() + TURN_SECONDS

    def is_over() -> bool:
        nonlocal until
        now = time.monotonic()
        if now < until:
            return False
        until = now + TURN_SECONDS
        return others_wait()

    return is_over
