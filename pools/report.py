"""A process tells what its live pools look like, so that the console can show all of them."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models.functions import Now

from allocation.presence import host_and_pid
from atributo_site.loops import Loop, Step
from pools.claims import hold_claimed, let_go
from pools.drained import avoid_drained
from pools.models import PoolSnapshot
from pools.net.monitor import TYPES, PoolMonitor, pool_monitor

REPORT_SECONDS = 5.0
MOST_OF_A_KIND = 200  # a curator may watch thousands of names, which have rows of their own
FIRST_SECONDS = 1.0  # a new pool is still connecting when it is first seen


class Report:
    """`step(now)` writes one picture; a process without pools and resolvers has none."""

    def __init__(
        self, process: str | Callable[[], str] = "", monitor: PoolMonitor = pool_monitor
    ) -> None:
        self._named = process or host_and_pid
        self._monitor = monitor
        self._has_reported = False

    @cached_property
    def process(self) -> str:
        """Asked for when it is first written, because the answer may need the database."""
        return self._named if isinstance(self._named, str) else self._named()

    def step(self, now: datetime) -> float:
        body = self._monitor.snapshot(MOST_OF_A_KIND)
        if not any(body[kind] for kind in TYPES):
            self.leave()
            return REPORT_SECONDS
        wait = REPORT_SECONDS if self._has_reported else FIRST_SECONDS
        self._write(body)
        return wait

    def leave(self) -> None:
        """A clean stop takes the picture away."""
        if self._has_reported:
            PoolSnapshot.objects.filter(process=self.process).delete()
            let_go(self.process)
            self._has_reported = False

    def _write(self, body: dict[str, Any]) -> None:
        values = {"body": body, "at": Now()}
        PoolSnapshot.objects.update_or_create(process=self.process, defaults=values)
        hold_claimed(self.process, self._monitor.lent())
        avoid_drained(self._monitor.pools())
        self._has_reported = True


@contextmanager
def reporting(process: str = "") -> Iterator[None]:
    """For programs with a main loop of their own: reports from a thread until the end."""
    loop, thread = _started(Report(process))
    try:
        yield
    finally:
        loop.stop()
        thread.join(timeout=2)


def report_when_used(process: Callable[[], str], monitor: PoolMonitor = pool_monitor) -> None:
    """For processes that may never have a pool: nothing happens before they make one."""

    def begin() -> None:
        _started(Report(process, monitor))

    monitor.when_used(begin)


def _started(report: Report) -> tuple[Loop, threading.Thread]:
    loop = Loop([Step("pools", report.step)], now=lambda: datetime.now(UTC))
    thread = threading.Thread(target=_run, args=(loop, report), name="pools-report", daemon=True)
    thread.start()
    return loop, thread


def _run(loop: Loop, report: Report) -> None:
    try:
        loop.run()
        report.leave()
    finally:
        connection.close()
