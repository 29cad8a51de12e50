"""The pump: run the jobs of one slot until its queue is empty or its time slice is over.

Which jobs are shown as running before they begin, so that no start goes without a row.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection

from atributo_site.core.errors import LeaseLost
from queues.logic.lifecycle import ABORTED, Outcome
from queues.models import Script
from queues.runs import abandoned, outcomes
from queues.runs.doorbell import call_any
from queues.runs.outcome_rows import AttemptResult
from queues.runs.outcomes import count_refused, finish
from queues.runs.reservation import Batch, Reserved, reserve, reserve_callback
from queues.runs.slots import HeldSlot, lease_seconds
from queues.worker.child_process import Workhorse
from queues.worker.protocol import ChildGone
from queues.worker.run_monitor import Supervision


@lru_cache(maxsize=1)
def recorded_scripts(revision: int) -> frozenset[tuple[str, str]]:
    """Return mount and name of the scripts whose manifest wants their start recorded.

    They are read again when a service changes, which raises the revision.
    """
    asking = Script.objects.filter(record_start=True)
    return frozenset(asking.values_list("service__mount", "name"))


log = structlog.get_logger(__name__)

SHORT_SECONDS = 0.02  # what ends sooner is written with its batch
SLICE_SECONDS = 5.0  # then the other queues have their turn
LARGEST_BATCH = 256
LARGEST_MESSAGE = 1024 * 1024  # characters of data: while it is handed over no lease is renewed
DATABASE_PAUSE_SECONDS = 0.1


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
    _size: int = field(default=1, init=False)
    _renewed: float = field(init=False)

    def __post_init__(self) -> None:
        self._renewed = self.slot.taken_at

    def run(self) -> bool:
        """Whether work may be left when it returns; LeaseLost when the slot went to another."""
        over = time.monotonic() + SLICE_SECONDS
        is_over = False
        while not self.is_stopping():
            # A callback follows its run at once, though the time slice is over.
            batch = reserve_callback(self.slot) if is_over else self._reserved()
            if batch is None:
                return is_over
            self._play(batch)
            self.keep_alive()
            is_over = is_over or time.monotonic() > over or self.is_wanted()
        return True

    def _reserved(self) -> Batch | None:
        return self.reserve(self.slot, self._size)

    def _play(self, batch: Batch) -> None:
        """Run a batch; nothing of it is held any more when this returns."""
        is_careful = self._is_careful(batch)
        playing = BatchProgress(self._first_of(batch, is_careful), time.monotonic())
        others = len(batch.jobs) > 1
        if is_careful(batch.jobs[0]) and not self._begin_carefully(playing, others):
            return
        deadline = time.monotonic() + SHORT_SECONDS
        work = [job.work(batch.revision, self.slot) for job in playing.batch.jobs]
        until = self._renewed + lease_seconds()
        self.workhorse.give(work, deadline, until, self._notes(playing))
        try:
            self._follow(playing, deadline)
        except LeaseLost:
            self.workhorse.kill()
            count_refused(self.slot, len(playing.endings))
            raise
        if len(playing.batch.jobs) < len(batch.jobs):
            self.slot.give_back()

    def _first_of(self, batch: Batch, is_careful: Callable[[Reserved], bool]) -> Batch:
        """Those that are handed over together; no more are reserved the next time."""
        first = batch.before(is_careful).within(LARGEST_MESSAGE)
        if len(first.jobs) < len(batch.jobs):
            self._size = len(first.jobs)
        return first

    def _is_careful(self, batch: Batch) -> Callable[[Reserved], bool]:
        """Which jobs are recorded before they begin: by wish, and where nothing can be noted."""
        if batch.record_start or not self.workhorse.takes_notes():
            return lambda job: True
        recorded = recorded_scripts(batch.revision)
        return lambda job: job.suspect or (job.mount, job.script) in recorded

    def _notes(self, playing: "BatchProgress") -> dict[str, Any]:
        """What the child needs to note what it begins, which a row may say already."""
        return {
            "key": self.slot.notes_key,
            "clock": [playing.batch.now.isoformat(), playing.since],
            "worker": self.worker,
            "required": not playing.shown,
        }

    def _begin_carefully(self, playing: "BatchProgress", others: bool) -> bool:
        """Show it as running before it begins, and undo what earlier attempts left behind."""
        first, asked_at = playing.batch.jobs[0], time.monotonic()
        playing.shown = outcomes.start(self.slot, first, self.worker, 0.0)
        self._renewed = asked_at
        if not playing.shown:
            self.slot.give_back()
        if others:
            self.call(self.slot)
        stuck = abandoned.left_by_earlier_attempts(first) if playing.shown else []
        if stuck:
            playing.died(stuck[0])
            self._store(playing)
        return playing.shown and not stuck

    def _follow(self, playing: "BatchProgress", deadline: float) -> None:
        while playing.unstarted() and not playing.shown:
            wait = deadline + SHORT_SECONDS / 4 - time.monotonic()
            try:
                message = self.workhorse.receive(max(0.0, wait))
            except ChildGone:
                playing.died(f"the process was {self.workhorse.bury()}")
                break
            if message is not None and message["t"] == "stopped":
                break
            if message is not None:
                playing.heard(message)
            elif not self._revoked(playing):
                self._show(playing)
                break
        if playing.shown:
            self._supervise(playing)
        else:
            self._finish(playing)

    def _revoked(self, playing: "BatchProgress") -> bool:
        """Whether the child has begun more jobs than it has told of yet."""
        if playing.begins is None:
            playing.begins = len(playing.batch.jobs) - self.workhorse.revoke()
        return playing.number != playing.begins - 1

    def _show(self, playing: "BatchProgress") -> None:
        """The current job takes longer: store what has ended, show it, free the others."""
        if playing.endings:
            self._store(playing)
        ago = time.monotonic() - playing.begun
        playing.shown = outcomes.start(self.slot, playing.current, self.worker, ago)
        self._size = 1
        if not playing.shown:  # aborted or deleted at the last moment
            self._drop(playing)
            return
        if playing.number + 1 < len(playing.batch.jobs):
            self.call(self.slot)

    def _drop(self, playing: "BatchProgress") -> None:
        """End the current job, which is not wanted any more; that it began is recorded."""
        self.workhorse.kill()
        playing.ended(Outcome.ABORTED, ABORTED)
        self._store(playing)

    def _supervise(self, playing: "BatchProgress") -> None:
        ending = Supervision(
            self.slot,
            playing.current,
            self.workhorse,
            playing.begun,
            playing.moment,
            self.keep_alive,
            self.is_stopping,
            self.is_called,
        ).ending(playing.lines, playing.progress, playing.transaction)
        if ending is not None:
            playing.endings = [ending]
            self._store(playing)
        if self.workhorse.is_fat():
            self.workhorse.kill()

    def _finish(self, playing: "BatchProgress") -> None:
        if playing.endings:
            self._store(playing)
        self._adapt(playing)
        if playing.unstarted():
            self.slot.give_back()
            self.call(self.slot)
        if self.workhorse.is_fat():
            self.workhorse.kill()

    def _store(self, playing: "BatchProgress") -> None:
        """Write what has ended; a database that is away is waited for while the lease lasts."""
        give_up = time.monotonic() + lease_seconds()
        is_again = False
        while True:
            asked_at = time.monotonic()
            try:
                accepted = finish(self.slot, playing.endings, self.worker)
                if is_again:  # what was stored before its answer got lost is refused now
                    accepted |= outcomes.stored(self.slot, playing.endings, self.worker)
                break
            except (OperationalError, InterfaceError):
                if time.monotonic() > give_up:
                    raise
                is_again = True
                connection.close()
                time.sleep(DATABASE_PAUSE_SECONDS)
        self._renewed = asked_at
        refused = len(playing.endings) - len(accepted)
        if refused:
            count_refused(self.slot, refused)
        playing.endings = []

    def _adapt(self, playing: "BatchProgress") -> None:
        """As many jobs at once as fit the time in which a short one must end."""
        if playing.seconds > SHORT_SECONDS:
            self._size = max(1, self._size // 2)
        elif playing.seconds < SHORT_SECONDS / 2 and not playing.unstarted():
            self._size = min(LARGEST_BATCH, self._size * 2)


@dataclass
class BatchProgress:
    """Where the child is in a batch, from what it said."""

    batch: Batch
    since: float
    number: int = 0
    begins: int | None = None  # once its tokens are taken back: how many jobs it begins
    shown: bool = False
    seconds: float = 0.0  # what the scripts themselves took
    endings: list[AttemptResult] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, Any] | None = None
    transaction: tuple[int, int] | None = None  # that the current job has begun
    begun: float = field(default_factory=time.monotonic)

    @property
    def current(self) -> Reserved:
        return self.batch.jobs[self.number]

    def moment(self, monotonic: float) -> datetime:
        """By the database's clock, counted on from when the batch was reserved."""
        return self.batch.now + timedelta(seconds=monotonic - self.since)

    def unstarted(self) -> bool:
        return self.number < len(self.batch.jobs)

    def heard(self, message: dict[str, Any]) -> None:
        if message["t"] == "log":
            self.lines.append({**message, "moment": self.moment(message["at"])})
        elif message["t"] == "progress":
            self.progress = message
        elif message["t"] == "transaction":
            self.transaction = (message["id"], message["epoch"])
        else:
            self.endings.append(attempt_result(self, message))
            self.seconds += message["seconds"]
            self._go_on(message["begun"] + message["seconds"])

    def died(self, error: str) -> None:
        """The child died under a live parent: a failure like any other."""
        self.ended(Outcome.FAILED, error)

    def ended(self, outcome: Outcome, error: str) -> None:
        """The current job ended without a word of the child."""
        now = time.monotonic()
        self.endings.append(
            AttemptResult(
                self.current,
                outcome,
                self.moment(self.begun),
                self.moment(now),
                error=error,
                lines=self.lines,
                abandoned=True,
            )
        )
        self._go_on(now)

    def _go_on(self, begun: float) -> None:
        self.number += 1
        self.begun, self.lines, self.progress, self.transaction = begun, [], None, None


def attempt_result(playing: Any, message: dict[str, Any]) -> AttemptResult:
    """How the current job ended, in the child's words."""
    shown = playing.progress or {"percent": None, "note": ""}
    return AttemptResult(
        playing.current,
        Outcome.COMPLETE if message["ok"] else Outcome.FAILED,
        playing.moment(message["begun"]),
        playing.moment(message["begun"] + message["seconds"]),
        result=message.get("result"),
        error=message.get("error", ""),
        traceback=message.get("traceback", ""),
        back_off_ms=message.get("back_off"),
        percent=shown["percent"],
        note=shown["note"],
        lines=playing.lines,
        transaction=message.get("transaction"),
        abandoned=message.get("abandoned", False),
    )
