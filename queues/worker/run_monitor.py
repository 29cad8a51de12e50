"""Watch one long run: leases, time-out, abort, memory, log lines, a stop of the worker."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from allocation.transactions.engine.completion import renew
from allocation.transactions.engine.operations import Fence
from atributo_site.core.text import written
from queues.children.child_process import Workhorse
from queues.children.protocol import ChildGone
from queues.children.waits import Steps, Wait
from queues.logic.lifecycle import Outcome
from queues.runs import abandoned, outcomes
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import Reserved
from queues.runs.slots import HeldSlot, lease_seconds

GRACE_SECONDS = 1.0  # between TimedOut inside the script and the end of its process
STOP_SECONDS = 7.0  # a stopping worker lets a run go on for this long
REPORT_SECONDS = 0.25
TICK_SECONDS = 0.1


@dataclass
class RunMonitor:
    slot: HeldSlot
    job: Reserved
    workhorse: Workhorse
    begun: float
    moment: Callable[[float], datetime]
    keep_alive: Callable[[], None]
    is_stopping: Callable[[], bool]
    is_called: Callable[[], bool]  # somebody may have aborted or deleted the job
    lines: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, Any] | None = None
    transaction: tuple[int, int] | None = None
    _new_progress: bool = False
    _renew_at: float = 0.0
    _report_at: float = 0.0
    _leased_until: float = 0.0
    _interrupted_at: float | None = None
    _stopping_since: float | None = None

    def watch(
        self, lines: list[dict[str, Any]], progress: Any, transaction: tuple[int, int] | None
    ) -> Steps[AttemptResult | None]:
        """Return how the run ended, or None when it was aborted or deleted meanwhile."""
        self.lines, self.progress, self.transaction = lines, progress, transaction
        self._new_progress = progress is not None
        self._note_renewal()
        while True:
            try:
                message = yield Wait(self.workhorse, TICK_SECONDS)
            except ChildGone:
                return self._result_of_dead_child(self.workhorse.reap())
            if message is not None and message["t"] == "done":
                return self._result_of(message)
            if message is not None and message["t"] == "stopped":  # shown, and yet not begun
                return self._ended(Outcome.RELEASED, "it could not begin")
            if message is not None:
                self._receive(message)
            ended = self._look()
            if ended is not None:
                return ended[0]

    def _look(self) -> tuple[AttemptResult | None] | None:
        """Return the result in a tuple if something ends the run from outside, else None."""
        if not self._still_ours():
            self.workhorse.kill()
            abandoned.roll_back(abandoned.open_of_attempt(self.job.attempt_in(self.slot)))
            return (None,)
        if self._is_overdue():
            self.workhorse.kill()
            return (self._timed_out(),)
        if self.workhorse.is_over_memory_limit():
            self.workhorse.kill()
            return (self._failed(f"used more than {self.workhorse.memory_mb} MB of memory"),)
        if self._must_stop():
            self.workhorse.kill()
            return (self._ended(Outcome.RELEASED, "the worker stopped"),)
        return None

    def _still_ours(self) -> bool:
        """Renew and report in time; LeaseLost when another may have the slot."""
        now = time.monotonic()
        reporting = (self.lines or self._new_progress) and now >= self._report_at
        if now < self._renew_at and not reporting and not self.is_called():
            return True
        try:
            ours = self._renewed(bool(reporting))
        except (OperationalError, InterfaceError):
            return self._without_database()
        self._note_renewal()
        return ours

    def _renewed(self, reporting: bool) -> bool:
        if reporting:
            progress = self.progress if self._new_progress else None
            outcomes.record_progress(self.slot, self.job, self.lines, progress)
            self.lines, self._new_progress = [], False
            self._report_at = time.monotonic() + REPORT_SECONDS
        self.keep_alive()
        if self.transaction is not None:
            renew(Fence(*self.transaction))  # it lives as long as its run, up to its limit
        return outcomes.still_ours(self.slot, self.job)

    def _without_database(self) -> bool:
        connection.close()
        if time.monotonic() > self._leased_until:
            raise self.slot.lost()
        return True

    def _note_renewal(self) -> None:
        now = time.monotonic()
        beat = min(settings.ATRIBUTO.worker_heartbeat_ms, settings.ATRIBUTO.max_job_time_ms / 3)
        self._renew_at = now + beat / 1000
        self._leased_until = now + lease_seconds()

    def _is_overdue(self) -> bool:
        """Raise inside the script first; if that does not end it, end its process."""
        if self.job.timeout_ms is None:
            return False
        now = time.monotonic()
        if self._interrupted_at is not None:
            return now > self._interrupted_at + GRACE_SECONDS
        if now > self.begun + self.job.timeout_ms / 1000:
            self._interrupted_at = now
            self.workhorse.interrupt()
        return False

    def _must_stop(self) -> bool:
        if not self.is_stopping():
            return False
        now = time.monotonic()
        self._stopping_since = self._stopping_since or now
        return now > self._stopping_since + STOP_SECONDS

    def _receive(self, message: dict[str, Any]) -> None:
        if message["t"] == "log":
            self.lines.append({**message, "moment": self.moment(message["at"])})
        elif message["t"] == "progress":
            self.progress, self._new_progress = message, True
        elif message["t"] == "transaction":
            self.transaction = (message["id"], message["epoch"])

    def _result_of(self, message: dict[str, Any]) -> AttemptResult:
        result = self._ended(Outcome.COMPLETE, "")
        result.end_by(message)
        return result

    def _result_of_dead_child(self, how: str) -> AttemptResult:
        """Call it a time-out if the process was interrupted before it could handle that."""
        for line in self.workhorse.last_lines():
            self._receive(line)
        if self._interrupted_at is not None:
            return self._timed_out()
        return self._failed(f"the process was {how}")

    def _timed_out(self) -> AttemptResult:
        return self._failed(f"timed out after {written(self.job.timeout_ms or 0)}")

    def _failed(self, error: str) -> AttemptResult:
        return self._ended(Outcome.FAILED, error)

    def _ended(self, outcome: Outcome, error: str) -> AttemptResult:
        progress = self.progress or {"percent": None, "note": ""}
        return AttemptResult(
            self.job,
            outcome,
            self.moment(self.begun),
            self.moment(time.monotonic()),
            error=error,
            percent=progress["percent"],
            note=progress["note"],
            lines=self.lines,
            abandoned=True,
        )
