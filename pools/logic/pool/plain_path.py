"""Lease and return connections without the lock of the pool, where no rule needs it.

Taking from a deque is one step of the interpreter, and so is ending a lease. Whoever holds the lock
looks again at what it took for idle, and whoever returned a connection looks whether the pool
wanted something of it meanwhile.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pools.logic.pool.slot import IDLE, Slot

if TYPE_CHECKING:
    from pools.logic.pool.pool import PoolMachine


class PlainPath:
    __slots__ = ("_is_timed", "_pool", "is_open")

    def __init__(self, pool: "PoolMachine") -> None:
        self._pool = pool
        self._is_timed = pool.config.check_timeout is not None
        self.is_open = False

    def take(self, holder: Any) -> Slot | None:
        """Lease the connection that rested longest; None if that needs the lock."""
        pool = self._pool
        if not self.is_open or pool.queue.waiting:
            return None
        try:
            slot = pool.idle.popleft()
        except IndexError:
            return None
        return slot.lend(holder)

    def put(self, slot: Slot, holder: Any, now: Callable[[], float]) -> bool | None:
        """Let a slot rest; None if it needs the lock, False if the holder does not have it.

        After True the caller looks at `is_unsettled`.
        """
        pool = self._pool
        if (
            not self.is_open
            or not slot.proven
            or slot.doomed is not None
            or pool.queue.waiting
            or pool.roster.outliers.strikes
        ):
            return None
        if not slot.end_lease(holder):
            return False
        if self._is_timed:  # how long it rests matters only where idle connections are checked
            slot.idle_since = now()
        slot.state = IDLE
        pool.idle.append(slot)
        return True

    def is_unsettled(self, slot: Slot) -> bool:
        """Return whether the pool wants something of a slot that was put back here."""
        return slot.doomed is not None or bool(self._pool.queue.waiting) or not self.is_open

    def pass_on(self, slot: Slot, now: float) -> Any:
        """Give a slot whose lease has ended to the claim that waits longest, under the lock.

        Return that claim; None if there is none, or if more is to be thought of.
        """
        pool = self._pool
        waiting = pool.queue.waiting
        if not (self.is_open and waiting and slot.proven and slot.doomed is None):
            return None
        if pool.roster.outliers.strikes or pool.wants_more:
            return None
        holder, _ = pool.queue.pop(now) or (None, False)
        if holder is not None:
            slot.lend(holder)
        return holder
