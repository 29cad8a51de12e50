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

from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now

log = structlog.get_logger(__name__)
LONGEST_BACKOFF_SECONDS = 30.0


@dataclass(frozen=True)
class Repair:
    """Mend what `run(now, lease)` finds; it returns how many.

    Each of its database transactions calls `lease.guard()` first, so that a curator that was
    replaced meanwhile changes nothing. It mends about its budget at once; if more is left it is
    called again as soon as every other repair had its turn.
    """

    name: str
    run: Callable[[datetime, HeldLease], int]
    every_seconds: float = 1.0
    budget: int = 1000

    def pause_after(self, mended: int) -> float:
        return 0.0 if mended >= self.budget else self.every_seconds


@dataclass
class Step:
    """Do one round with `run(now)`, which returns the seconds until the next."""

    name: str
    run: Callable[[datetime], float]
    failures: int = field(default=0, init=False)
    due: float = field(default=0.0, init=False)


class Loop:
    """Run steps in turn; a failing one waits longer and longer and never stops the others."""

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

    def run_until_signalled(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stop())
        self.run()

    def run(self) -> None:
        while not self._stop.is_set():
            self._stop.wait(self.run_due())

    def run_due(self) -> float:
        """Run every step whose time has come; return the seconds until the next one."""
        for step in self.steps:
            if step.due <= self._monotonic() and not self._stop.is_set():
                step.due = self._run(step) + self._monotonic()
        return max(0.0, min(step.due for step in self.steps) - self._monotonic())

    def stop(self) -> None:
        self._stop.set()

    def _run(self, step: Step) -> float:
        close_old_connections()
        try:
            delay = step.run(self._now())
        except Exception:  # a step's failure must not stop the others
            step.failures += 1
            log.exception("step_failed", step=step.name, failures=step.failures)
            return min(2.0 ** min(step.failures - 1, 10), LONGEST_BACKOFF_SECONDS)
        step.failures = 0
        return delay
