"""Run steps for ever: each does one round and says how long to wait.

A repair is a step of the active curator: it mends a bounded number of rows per sweep.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

import structlog
from django.db import close_old_connections

from atributo_site.core.availability.outages import outages
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now

log = structlog.get_logger(__name__)
LONGEST_BACKOFF_SECONDS = 30.0
SAME_SECONDS = 0.1  # steps that begin within this time get the same `now`
LONGEST_AWAY_SECONDS = 5.0  # between two tries while the database is away


@dataclass(frozen=True)
class Repair:
    """Mend what `run(now, lease)` finds; it returns how many.

    Each of its database transactions calls `lease.guard()` first, so that a curator that was
    replaced meanwhile changes nothing. It mends about its budget at once; if more is left it is
    called again as soon as every other repair had its turn. One that knows when it is needed next
    says so with `due_in`, in seconds, and is not late though nothing else happens.
    """

    name: str
    run: Callable[[datetime, HeldLease], int]
    every_seconds: float = 1.0
    budget: int = 1000
    due_in: Callable[[], float] | None = None

    def pause_after(self, mended: int) -> float:
        return 0.0 if mended >= self.budget else self.every_seconds


@dataclass
class Step:
    """Do one round with `run(now)`, which returns the seconds until the next."""

    name: str
    run: Callable[[datetime], float]
    failures: int = field(default=0, init=False)
    due: float = field(default=0.0, init=False)
    failed_with: str = field(default="", init=False)


class Loop:
    """Run steps in turn; a failing one waits longer and longer and never stops the others.

    While the database does not even tell the time, all of them wait.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        now: Callable[[], datetime] = database_now,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.steps = list(steps)
        self._now = now
        self._monotonic = monotonic
        self._stop = threading.Event()
        self._clock = Step("clock", lambda now: 0.0)  # it fails while the database is away

    def run_until_signalled(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stop())
        self.run()

    def run(self) -> None:
        while not self._stop.is_set():
            self._stop.wait(self.run_due())

    def run_due(self) -> float:
        """Run every step whose time has come; return the seconds until the next one."""
        now, read_at = None, 0.0
        for step in self.steps:
            begun = self._monotonic()
            if step.due > begun or self._stop.is_set():
                continue
            if now is None or begun - read_at > SAME_SECONDS:
                now, read_at = self._read_clock(), begun
            if now is None:  # the others would fail, too; all begin at once when it is back
                return backoff_seconds(self._clock.failures, LONGEST_AWAY_SECONDS)
            step.due = self._run(step, now) + self._round_of(read_at)
        return max(0.0, min(step.due for step in self.steps) - self._monotonic())

    def _round_of(self, read_at: float) -> float:
        """Return the moment from which a pause counts; steps of one pace stay in one round."""
        ended = self._monotonic()
        return read_at if ended - read_at <= SAME_SECONDS else ended

    def stop(self) -> None:
        self._stop.set()

    def _read_clock(self) -> datetime | None:
        try:
            close_old_connections()
            now = self._now()
        except Exception as error:  # whatever it is, the next try may succeed
            self._note_failure(self._clock, error)
            return None
        self._note_success(self._clock)
        return now

    def _run(self, step: Step, now: datetime) -> float:
        try:
            delay = step.run(now)
        except Exception as error:  # a step's failure must not stop the others
            self._note_failure(step, error)
            return backoff_seconds(step.failures, LONGEST_BACKOFF_SECONDS)
        self._note_success(step)
        return delay

    def _note_failure(self, step: Step, error: Exception) -> None:
        """Log a failure once, and not again while it stays the same."""
        step.failures += 1
        if outages.failed(self._source(step), error):
            return
        if repr(error) != step.failed_with:
            log.exception("step_failed", step=step.name, failures=step.failures)
        step.failed_with = repr(error)

    def _note_success(self, step: Step) -> None:
        if not step.failures:
            return
        outages.succeeded(self._source(step))
        if step.failed_with:
            log.warning("step_recovered", step=step.name, failures=step.failures)
        step.failures, step.failed_with = 0, ""

    def _source(self, step: Step) -> str:
        return f"{step.name} of {id(self)}"


def backoff_seconds(failures: int, longest: float) -> float:
    return min(2.0 ** min(failures - 1, 10), longest)
