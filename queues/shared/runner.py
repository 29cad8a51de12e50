"""Run many jobs of one queue in one process, each in a slot of its own.

Starts, renewals and results of many jobs are written together. A job's start is recorded before it
begins, so that a dead worker leaves no doubt about what has run.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from allocation.transactions.engine.completion import renew
from allocation.transactions.engine.operations import Fence
from atributo_site.core.errors import LeaseLost
from atributo_site.core.text import written
from queues.children.protocol import ChildGone
from queues.children.shared_process import SharedProcess
from queues.children.waits import Steps, Wait
from queues.logic.lifecycle import Outcome
from queues.runs import abandoned, outcomes
from queues.runs.doorbell import Bell
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import Reserved
from queues.runs.slots import HeldSlot, lease_seconds
from queues.shared.belonging import belonging, threads_of
from queues.shared.holding import Belonging, Holding, Started
from queues.shared.shared_run import SharedRun

SLICE_SECONDS = 5.0  # then the other queues have their turn
TICK_SECONDS = 0.02
MOST_BEGUN = 25  # at a time: others run meanwhile, so that they do not all wait together
LOOK_SECONDS = 0.02  # between two looks for further jobs while slots are free
CALL_SECONDS = 0.1  # between two requests that somebody else looks
REPORT_SECONDS = 0.25
GRACE_SECONDS = 1.0  # between TimedOut inside the script and the end of its process
STOP_SECONDS = 7.0  # a stopping worker lets runs go on for this long
DATABASE_PAUSE_SECONDS = 0.1
log = structlog.get_logger(__name__)


@dataclass
class SharedRunner:
    holding: Holding
    mount: str
    threads: int
    process: SharedProcess
    keep_alive: Callable[[], None]
    is_stopping: Callable[[], bool]
    is_called: Callable[[], bool]
    is_wanted: Callable[[], bool]
    grant: Callable[[int, int], int]  # how many of so many may begin now, while so many run
    show: Callable[[Reserved], None]
    count: Callable[[list[AttemptResult]], None]
    look_soon: Callable[[], None]  # somebody else has to look for jobs of the queue
    _belonging: Belonging = field(init=False)
    _running: dict[int, SharedRun] = field(default_factory=dict)  # by number
    _ended: list[tuple[SharedRun, AttemptResult]] = field(default_factory=list)
    _fill_at: float = 0.0
    _answered: set[int] = field(default_factory=set)  # slots whose bells called here
    _look_soon_at: float = 0.0
    _renew_at: float = 0.0
    _over_at: float = 0.0
    _leased_until: float = 0.0
    _away_until: float = 0.0  # the database is not asked before
    _is_again: bool = False  # results may have been written already
    _is_over: bool = False  # no further job begins here
    _stopping_since: float | None = None

    def __post_init__(self) -> None:
        self._belonging = Belonging(self.mount)

    def steps(self) -> Steps[None]:
        """Run jobs until the queue is empty or its time slice is over; then hold nothing."""
        self._over_at = time.monotonic() + SLICE_SECONDS
        self._note_renewal()
        try:
            while self._goes_on():
                yield from self._listen()
        except LeaseLost:
            self.process.kill()
            outcomes.count_refused(next(iter(self.holding.slots.values())), len(self._running))
            raise
        except BaseException:  # nobody follows them any more
            self.process.kill()
            raise
        self.holding.release(list(self.holding.slots.values()))
        if self._answered:
            self.holding.unring(self._answered)

    def answer(self, bell: Bell) -> bool:
        """Look for the job that a bell calls to, if there is room; else somebody else has to."""
        if bell.queue != self.holding.queue or not self.has_room():
            return False
        self._answered.add(bell.slot)
        return True

    def has_room(self) -> bool:
        """Return whether a further job of its queue may begin here at once; then it looks."""
        if self._is_over or len(self._running) >= self.threads:
            return False
        self._fill_at = 0.0
        return True

    def _goes_on(self) -> bool:
        now = time.monotonic()
        if now >= self._fill_at and not self._ended:
            self._while_leased(lambda: self._fill(now))
        return bool(self._running or self._ended)

    def _listen(self) -> Steps[None]:
        """Take what the process says, write what has ended, and look after what runs."""
        if not self._running:  # then nothing more is said
            time.sleep(max(0.0, self._away_until - time.monotonic()))
            self._while_leased(self._store)
            return
        try:
            message = yield Wait(self.process, TICK_SECONDS)
            while message is not None:
                self._receive(message)
                message = self.process.receive(0.0)
        except ChildGone:
            self._bury(f"the process was {self.process.kill()}")
        if time.monotonic() < self._away_until:
            return
        if self._ended:  # at once: what ends during the write makes the next group
            self._while_leased(self._store)
        self._while_leased(self._look)

    def _while_leased(self, step: Callable[[], None]) -> None:
        """Do a step; if the database is away, try again later while the leases last."""
        try:
            step()
        except (OperationalError, InterfaceError):
            connection.close()
            now = time.monotonic()
            if now > self._leased_until:
                raise
            self._is_again = True
            self._away_until = self._fill_at = now + DATABASE_PAUSE_SECONDS

    def _receive(self, message: dict[str, Any]) -> None:
        run = self._running[message["job"]]
        if message["t"] != "done":
            run.receive(message)
            return
        del self._running[message["job"]]
        self._end(run, run.result(message))

    def _end(self, run: SharedRun, result: AttemptResult) -> None:
        self._ended.append((run, result))

    def _fill(self, now: float) -> None:
        """Begin further jobs, as far as the process, the queue and the worker allow it."""
        was_called, running = bool(self._answered), len(self._running)
        self._fill_at = now + LOOK_SECONDS
        if was_called:  # before the look: whoever pushes after it rings again
            self.holding.unring(self._answered)
            self._answered = set()
        room = self._room(now)
        if room > 0:
            self._begin(min(room, MOST_BEGUN))
            self.grant(0, len(self._running))
        if self._fill_at:  # no further job begins at once
            self._release_free()
        if was_called and len(self._running) == running and now > self._look_soon_at:
            self._look_soon_at = now + CALL_SECONDS  # the bell may mean a job that runs alone
            self.look_soon()

    def _room(self, now: float) -> int:
        """Return how many further jobs may begin here now."""
        self._is_over = self._is_over or self.is_stopping()
        if now > self._over_at:
            self._over_at, self._is_over = now + SLICE_SECONDS, self._is_over or self.is_wanted()
        if self._is_over:
            return 0
        held = len(self._running) + len(self._ended)
        return self.grant(self.threads - len(self._running), held)

    def _begin(self, room: int) -> None:
        """Take what is due into slots that are held already; hold more when those are full."""
        free = self._free()
        if not free:
            due = self.holding.due(room)
            if not due or not self.holding.acquire(due):
                return
            free = self._free()
        with self._unsure(free):
            reserved = self.holding.reserve(free[:room], self._belonging)
            self._take(reserved)
        if len(reserved) == len(free[:room]):
            self._fill_at = 0.0  # there may be more

    @contextmanager
    def _unsure(self, free: list[HeldSlot]) -> Iterator[None]:
        """Forget these slots if the database goes away: what of it happened is not known."""
        try:
            yield
        except (OperationalError, InterfaceError):
            self.holding.forget(free)
            self._is_over = True
            raise

    def _take(self, reserved: list[Started]) -> None:
        """Begin what was reserved, as far as it belongs here."""
        mine = [each for each in reserved if each.is_begun or self._is_mine(each)]
        if len(mine) < len(reserved):  # the next job has to run elsewhere
            self._is_over = True
            self.holding.give_back([each for each in reserved if each not in mine])
            self.look_soon()
        started = self.holding.start(mine)
        if len(started) < len(mine):
            self.holding.give_back([each for each in mine if each not in started])
        if started:
            self._belonging = belonging(self.mount, started[-1].revision)
            self._hand_over(started)

    def _hand_over(self, started: list[Started]) -> None:
        now = time.monotonic()
        runs = [SharedRun(each, now) for each in started]
        works = [each.job.work(each.revision, each.slot) for each in started]
        try:
            numbers = self.process.begin(works)
        except ChildGone:
            self._bury(f"the process was {self.process.kill()}")
            for run in runs:
                self._end(run, run.ended(Outcome.RELEASED, "it could not begin"))
            return
        for number, run in zip(numbers, runs, strict=True):
            run.number = number
            self._running[number] = run
        self.show(started[-1].job)

    def _is_mine(self, each: Started) -> bool:
        job = each.job
        if job.mount != self.mount or job.parent is not None:
            return False
        return threads_of(job, each.revision) > 1

    def _not_running(self) -> list[HeldSlot]:
        busy = {run.started.slot.id for run in self._running.values()}
        return [slot for slot in self.holding.slots.values() if slot.id not in busy]

    def _free(self) -> list[HeldSlot]:
        ended = {run.started.slot.id for run, _ in self._ended}
        return [slot for slot in self._not_running() if slot.id not in ended]

    def _release_free(self) -> None:
        """Leave slots without a job to others."""
        if self._running or self._ended:
            self.holding.release(self._free())

    def _store(self) -> None:
        """Write what has ended, and begin the next jobs in the same slots at once."""
        now = time.monotonic()
        self._fill_at = now + LOOK_SECONDS
        room = 0 if self._is_again else min(self._room(now), MOST_BEGUN)
        next_slots = self._not_running()[:room]
        with self._unsure(next_slots):
            reserved = self._record(next_slots)
            self._take(reserved)
        if not room or len(reserved) == len(next_slots):
            self._fill_at = 0.0  # there may be more
        if room:
            self.grant(0, len(self._running))

    def _record(self, next_slots: list[HeldSlot]) -> list[Started]:
        """Write what has ended; return what was reserved in the same step."""
        ended = list(self._ended)
        results = [result for _, result in ended]
        pairs = [(run.started, result) for run, result in ended]
        accepted, reserved = self.holding.record_and_reserve(pairs, next_slots, self._belonging)
        if self._is_again:  # what was stored before its answer got lost is refused now
            accepted |= outcomes.recorded_before(results, self.holding.worker)
            self._is_again = False
        self._ended = []
        self.count(results)
        dropped = sum(run.is_dropped for run, _ in ended)
        refused = len(results) - len(accepted) - dropped
        if refused > 0:
            self.holding.renew()  # refused one by one, or are the slots lost?
            outcomes.count_refused(ended[0][0].started.slot, refused)
        return reserved

    def _look(self) -> None:
        """Renew, report, and end what has to end."""
        now = time.monotonic()
        if now >= self._renew_at or self.is_called():
            self._renew()
        for run in list(self._running.values()):
            self._report(run, now)
            if run.stopped_at is None and run.is_overdue(now, self.process.ready_at):
                self._stop(run, now)
        self._end_stubborn(now)
        if self.process.is_over_memory_limit():
            self.process.kill()
            self._bury(f"the process used more than {self.process.memory_mb} MB of memory")
        if self._must_stop(now):
            self.process.kill()
            self._release_running("the worker stopped")

    def _renew(self) -> None:
        self.keep_alive()
        self.holding.renew()
        running = list(self._running.values())
        for run in running:
            if run.transaction is not None:
                renew(Fence(*run.transaction))
        ours = self.holding.still_ours([run.started for run in running]) if running else set()
        for run in running:
            if run.started.job.id not in ours and not run.is_dropped:
                run.is_dropped = True
                self._stop(run, time.monotonic())
        self._note_renewal()

    def _stop(self, run: SharedRun, now: float) -> None:
        run.stopped_at = now
        with suppress(ChildGone):  # noticed with the next message
            self.process.stop(run.number)

    def _end_stubborn(self, now: float) -> None:
        """End the process of a job that does not let itself be stopped; the others run again."""
        late = [
            run
            for run in self._running.values()
            if run.stopped_at is not None and now > run.stopped_at + GRACE_SECONDS
        ]
        if not late:
            return
        self.process.kill()
        for run in late:
            del self._running[run.number]
            error = f"timed out after {written(run.started.job.timeout_ms or 0)}"
            self._end(run, run.ended(Outcome.FAILED, error))
            self._roll_back_dropped(run)
        self._release_running(f"its process was ended because of job {late[0].started.job.id}")

    def _roll_back_dropped(self, run: SharedRun) -> None:
        if run.is_dropped:
            attempt = run.started.job.attempt_in(run.started.slot)
            abandoned.roll_back(abandoned.open_of_attempt(attempt))

    def _bury(self, how: str) -> None:
        """Record the end of a process: one job alone has failed, many are tried again alone."""
        runs = list(self._running.values())
        if len(runs) == 1 and not runs[0].is_dropped:
            self._running.clear()
            timed_out = runs[0].stopped_at is not None
            error = (
                f"timed out after {written(runs[0].started.job.timeout_ms or 0)}"
                if timed_out
                else how
            )
            self._end(runs[0], runs[0].ended(Outcome.FAILED, error))
            return
        self._release_running(how)
        self._record([])  # and nothing begins before they are known as suspects
        self.holding.make_suspect([run.started.job.id for run in runs])

    def _release_running(self, why: str) -> None:
        for run in self._running.values():
            self._end(run, run.ended(Outcome.RELEASED, why))
        self._running.clear()

    def _report(self, run: SharedRun, now: float) -> None:
        if now < run.report_at or not (run.lines or run.is_new_progress):
            return
        if run.report_at:
            progress = run.progress if run.is_new_progress else None
            outcomes.record_progress(run.started.slot, run.started.job, run.lines, progress)
            run.lines, run.is_new_progress = [], False
        run.report_at = now + REPORT_SECONDS

    def _must_stop(self, now: float) -> bool:
        if not self.is_stopping() or not self._running:
            return False
        self._stopping_since = self._stopping_since or now
        return now > self._stopping_since + STOP_SECONDS

    def _note_renewal(self) -> None:
        beat = min(settings.ATRIBUTO.worker_heartbeat_ms, settings.ATRIBUTO.max_job_time_ms / 3)
        self._renew_at = time.monotonic() + beat / 1000
        self._leased_until = time.monotonic() + lease_seconds()
