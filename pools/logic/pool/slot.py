"""One place for a connection: what is in it and what shall become of it."""

import math
from typing import Any

from pools.logic.backends import Backend
from pools.logic.recovery import Recovery

CONNECTING = "connecting"
RETRYING = "retrying"
RESTING = "resting"
PROVING = "proving"
IDLE = "idle"
BUSY = "busy"
CHECKING = "checking"
CLOSING = "closing"

# Slots are given up in this order when there are too many.
RANK = {
    RETRYING: 0,
    RESTING: 0,
    CONNECTING: 1,
    PROVING: 1,
    CHECKING: 2,
    IDLE: 2,
    BUSY: 3,
    CLOSING: 4,
}


class Slot:
    """`doomed` says why the connection must not be used again: unwanted, closed or error."""

    __slots__ = (
        "attempt",
        "backend",
        "claims",
        "connected_at",
        "connection",
        "doomed",
        "holder",
        "id",
        "idle_since",
        "is_monitor",
        "key",
        "last_error",
        "lease",
        "leased_at",
        "next_step",
        "proven",
        "recovery",
        "rests",
        "serial",
        "state",
    )

    def __init__(self, id: int, backend: Backend, recovery: Recovery, is_monitor: bool) -> None:
        self.id = id
        self.backend = backend
        self.key = backend.key
        self.recovery = recovery.monitoring() if is_monitor else recovery
        self.is_monitor = is_monitor
        self.state = CONNECTING
        self.attempt = 0
        self.serial = 0
        self.connection: Any = None
        self.holder: Any = None
        self.lease: list[Any] = []
        self.claims = 0
        self.rests = 0
        self.doomed: str | None = None
        self.next_step = ""
        self.proven = False
        self.connected_at = -math.inf
        self.idle_since = -math.inf
        self.leased_at = -math.inf
        self.last_error: BaseException | None = None

    def lend(self, holder: Any) -> "Slot":
        self.state = BUSY
        self.claims += 1
        self.lease.append(holder)
        self.holder = holder
        return self

    def end_lease(self, holder: Any) -> bool:
        """Return True for exactly one of those who end the lease at the same time."""
        try:
            ended = self.lease.pop()
        except IndexError:
            return False
        if ended is not holder:  # the connection serves somebody else by now
            self.lease.append(ended)
            return False
        self.holder = None
        return True

    @property
    def is_retrying(self) -> bool:
        """Return True for a slot that tries again after a failure, so nobody should count on it."""
        return self.state == RETRYING or (self.state == CONNECTING and self.attempt > 1)

    @property
    def is_connected(self) -> bool:
        return self.state in (IDLE, BUSY, CHECKING)

    def __repr__(self) -> str:
        return f"<Slot {self.id} {self.state} {self.backend.authority}>"
