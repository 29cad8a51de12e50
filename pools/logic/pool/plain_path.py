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

    def line_up(self, holder: Any, clock: Callable[[], float]) -> bool:
        """Let a claim without a limit wait behind others; False if more is to be thought of.

        Only for pools of one thread: two at once would lose count of each other.
        """
        pool = self._pool
        queue, slots = pool.queue, pool.slots
        if not queue.waiting or slots.total < pool.maximum or slots.resting:
            return False
        if pool.idle or not self.is_open or not queue.put_last(holder, clock() * 1000.0):
            return False
        # another thread may have stopped the pool, or freed a connection, a moment ago
        is_settled = self.is_open and not pool.idle
        return is_settled or not queue.discard(holder)

    def pass_on(self, slot: Slot, holder: Any, now: float) -> Any:
        """Take a slot from its holder and give it to the claim that waits longest.

        Return that claim; None, and nothing has changed, if more is to be thought of.
        """
        pool = self._pool
        queue = pool.queue
        if not (self.is_open and queue.waiting and slot.proven and slot.doomed is None):
            return None
        if pool.roster.outliers.strikes or not pool.shape.is_sampling:
            return None
        if pool.slots.total < pool.maximum and len(pool.idle) < pool.config.spares:
            return None
        if not slot.end_lease(holder):
            return None
        following = queue.pop_first(now)
        slot.claims += following is not None
        slot.holder = holder if following is None else following
        slot.lease.append(slot.holder)
        return following
