"""The lease that says that a worker lives."""

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings

from atributo_site.core import presence
from atributo_site.core.errors import LeaseLost
from atributo_site.core.leases import HeldLease
from queues.errors import WorkerNameTaken


class WorkerPresence(presence.Presence):
    """It is renewed from the worker's own loop, so that a worker that hangs is not present."""

    def __init__(self, name: str, facts: dict[str, Any]) -> None:
        lease_seconds = settings.ATRIBUTO.worker_lease_ms / 1000
        beat_seconds = settings.ATRIBUTO.worker_heartbeat_ms / 1000
        super().__init__("worker", name, seconds=lease_seconds, beat_seconds=beat_seconds)
        self.facts = facts
        self._due = 0.0

    def arrive(self, stopping: Callable[[], bool]) -> None:
        """Take the lease; wait for that of a namesake that was killed a moment ago."""
        give_up = time.monotonic() + 2 * self.seconds
        while True:
            try:
                return self.take()
            except WorkerNameTaken:
                if stopping() or time.monotonic() > give_up:
                    raise
            time.sleep(0.2)

    def take(self) -> None:
        self._lease = HeldLease.take(self.role, self.holder, self.seconds, **self.facts)
        if self._lease is None:
            raise WorkerNameTaken(f"another live process is {self.role}")

    def keep(self) -> None:
        """Renew it when it is time; take it anew when it was lost meanwhile."""
        if time.monotonic() < self._due:
            return
        try:
            self._renew()
        except LeaseLost:
            self.take()
        self._due = time.monotonic() + self.beat_seconds

    def _renew(self) -> None:
        if self._lease is None:
            raise LeaseLost(f"{self.role} was never taken")
        self._lease.renew()
