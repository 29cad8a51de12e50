"""Show that a process lives: it holds a lease of its own and renews it until it stops."""

import copy
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection

from atributo_site.core.availability.outages import REQUESTS, outages
from atributo_site.core.errors import LeaseLost
from atributo_site.core.leases import HeldLease, this_process
from atributo_site.core.loops import Loop, Step
from atributo_site.core.models import Lease

_here: "Presence | None" = None


def holder_here() -> str:
    """Return the holder of this process' presence; "" while it has none."""
    return _here.holder if _here is not None and _here.held else ""


class Presence:
    """Beat once with `step(now)`; the dashboard shows `facts` of this process."""

    def __init__(self, kind: str, name: str, *, seconds: float, beat_seconds: float) -> None:
        self.role = f"{kind}/{name}"
        self.holder = this_process()
        self.seconds = seconds
        self.beat_seconds = beat_seconds
        self.facts: dict[str, Any] = {"pid": os.getpid(), "host": socket.gethostname()}
        self._lease: HeldLease | None = None
        self._stored: dict[str, Any] = {}

    def step(self, now: datetime) -> float:
        """Renew the lease, or take it anew after it expired in a silence."""
        try:
            self._beat()
        except LeaseLost:
            self._lease = None
            self._beat()
        outages.succeeded(REQUESTS)
        return self.beat_seconds

    def leave(self) -> None:
        """Free the lease on a clean stop, so that nobody waits until it expires."""
        if self._lease:
            self._lease.release()
            self._lease = None

    @property
    def held(self) -> bool:
        return self._lease is not None

    def _beat(self) -> None:
        if self._lease is None:
            self._lease = HeldLease.take(self.role, self.holder, self.seconds, **self.facts)
            self._stored = copy.deepcopy(self.facts)
            return
        self._lease.renew()
        if self.facts != self._stored:
            Lease.objects.filter(role=self.role, token=self._lease.token).update(facts=self.facts)
            self._stored = copy.deepcopy(self.facts)


def host_and_pid() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"


def presence_of(kind: str, name: str) -> Presence:
    env = settings.ATRIBUTO
    return Presence(
        kind,
        name,
        seconds=env.worker_lease_ms / 1000,
        beat_seconds=env.worker_heartbeat_ms / 1000,
    )


@contextmanager
def beating(presence: Presence, run: Callable[[datetime], float] | None = None) -> Iterator[None]:
    """Beat in a thread, by `run` if given, and leave at the end."""
    global _here
    _here = presence
    loop = Loop([Step("presence", run or presence.step)])
    thread = threading.Thread(target=_beat, args=(loop, presence), name="presence", daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.stop()
        thread.join(timeout=2)
        _here = None


def _beat(loop: Loop, presence: Presence) -> None:
    try:
        loop.run()
        presence.leave()
    finally:
        connection.close()
