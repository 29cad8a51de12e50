"""A process says that it lives: a lease of its own, renewed until it stops."""

import os
import socket
from datetime import datetime
from typing import Any

from allocation.errors import LeaseLost
from allocation.leases import HeldLease, this_process
from allocation.models import Lease


class Presence:
    """`step(now)` beats once; `facts` is what the dashboard shows of this process."""

    def __init__(self, kind: str, name: str, *, seconds: float, beat_seconds: float) -> None:
        self.role = f"{kind}/{name}"
        self.holder = this_process()
        self.seconds = seconds
        self.beat_seconds = beat_seconds
        self.facts: dict[str, Any] = {"pid": os.getpid(), "host": socket.gethostname()}
        self._lease: HeldLease | None = None

    def step(self, now: datetime) -> float:
        """Renew, or take the role anew after a silence in which it expired."""
        try:
            self._beat()
        except LeaseLost:
            self._lease = None
            self._beat()
        return self.beat_seconds

    def leave(self) -> None:
        """A clean stop: free at once, so that nobody waits for an expiry."""
        if self._lease:
            self._lease.release()
            self._lease = None

    @property
    def held(self) -> bool:
        return self._lease is not None

    def _beat(self) -> None:
        if self._lease is None:
            self._lease = HeldLease.take(self.role, self.holder, self.seconds, **self.facts)
            return
        self._lease.renew()
        Lease.objects.filter(role=self.role, token=self._lease.token).update(facts=self.facts)


def host_and_pid() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"
