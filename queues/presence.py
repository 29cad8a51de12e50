"""Presence: the lease that says «this worker lives»."""

import time
from typing import Any

from django.conf import settings

from allocation.errors import LeaseLost
from allocation.leases import HeldLease, this_process
from queues.errors import WorkerNameTaken


class Presence:
    """Renewed from the worker's own loop, so that a worker that hangs is not present."""

    def __init__(self, name: str, facts: dict[str, Any]) -> None:
        self.role = f"worker/{name}"
        self.facts = facts
        self.holder = this_process()
        self._lease: HeldLease | None = None
        self._due = 0.0

    def arrive(self) -> None:
        """Wait for the lease of a namesake that was killed a moment ago."""
        give_up = time.monotonic() + 2 * settings.ATRIBUTO.worker_lease_ms / 1000
        while True:
            try:
                return self.take()
            except WorkerNameTaken:
                if time.monotonic() > give_up:
                    raise
            time.sleep(0.2)

    def take(self) -> None:
        seconds = settings.ATRIBUTO.worker_lease_ms / 1000
        self._lease = HeldLease.take(self.role, self.holder, seconds, **self.facts)
        if self._lease is None:
            raise WorkerNameTaken(f"another live process is {self.role}")

    def keep(self) -> None:
        """Renew when it is time; take it anew when it was lost meanwhile."""
        if time.monotonic() < self._due:
            return
        try:
            self._renew()
        except LeaseLost:
            self.take()
        self._due = time.monotonic() + settings.ATRIBUTO.worker_heartbeat_ms / 1000

    def leave(self) -> None:
        if self._lease is not None:
            self._lease.release()

    def _renew(self) -> None:
        if self._lease is None:
            raise LeaseLost(f"{self.role} was never taken")
        self._lease.renew()
