"""A process tells what its live pools look like, so that the console can show all of them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models.functions import Now

from allocation.presence import host_and_pid
from atributo_site.loops import Loop, Step
from pools.claims import hold_claimed, let_go
from pools.models import PoolSnapshot
from pools.net.monitor import PoolMonitor, pool_monitor

REPORT_SECONDS = 5.0


class Report:
    """`step(now)` writes one picture; a process without pools and resolvers writes none."""

    def __init__(self, process: str = "", monitor: PoolMonitor = pool_monitor) -> None:
        self.process = process or host_and_pid()
        self._monitor = monitor
        self._has_reported = False

    def step(self, now: datetime) -> float:
        body = self._monitor.snapshot()
        if body["pool"] or body["dns_res"] or self._has_reported:
            self._write(body)
        return REPORT_SECONDS

    def leave(self) -> None:
        """A clean stop takes the picture away."""
        if self._has_reported:
            PoolSnapshot.objects.filter(process=self.process).delete()
            let_go(self.process)

    def _write(self, body: dict[str, Any]) -> None:
        values = {"body": body, "at": Now()}
        PoolSnapshot.objects.update_or_create(process=self.process, defaults=values)
        hold_claimed(self.process, body)
        self._has_reported = True


@contextmanager
def reporting(process: str = "") -> Iterator[None]:
    """For programs with a main loop of their own: reports from a thread until the end."""
    report = Report(process)
    loop = Loop([Step("pools", report.step)])
    thread = threading.Thread(target=_run, args=(loop, report), name="pools-report", daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.stop()
        thread.join(timeout=2)


def _run(loop: Loop, report: Report) -> None:
    try:
        loop.run()
        report.leave()
    finally:
        connection.close()
