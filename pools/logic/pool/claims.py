"""The claims that wait for a connection, first come first served.

Controlled delay drops some of them, so that the others wait about the target.
"""

import math
from collections import deque
from typing import Any

from pools.logic.errors import ClaimQueueFullError, InvalidInput
from pools.logic.timers import Timers

INTERVAL_MS = 100.0
WAITS_KEPT = 200


class ControlledDelay:
    def __init__(self, target_ms: float, interval_ms: float = INTERVAL_MS) -> None:
        self.target_ms = target_ms
        self.interval_ms = interval_ms
        self._first_above_at = 0.0
        self._drop_next_at = 0.0
        self._count = 0
        self._dropping = False
        self._last_empty_at: float | None = None

    def empty(self, now: float) -> None:
        """Note that the queue is empty and a connection is idle."""
        self._last_empty_at = now
        self._first_above_at = 0.0

    def limit_ms(self, now: float) -> float:
        """Return the hard limit of a claim that begins to wait now."""
        last = self._last_empty_at
        overloaded = last is not None and now - last > self.target_ms * 10
        return self.target_ms * (3 if overloaded else 10)

    def overloaded(self, since: float, now: float) -> bool:
        """Return True if the claim that has waited since `since` is to be dropped."""
        may_drop = self._may_drop(since, now)
        if self._dropping:
            return self._go_on_dropping(may_drop, now)
        recently = now - self._drop_next_at < self.interval_ms
        if not may_drop or not (recently or now - self._first_above_at >= self.interval_ms):
            return False
        self._dropping = True
        self._count = self._count - 2 if recently and self._count > 2 else 1
        self._drop_next_at = now + self.interval_ms / math.sqrt(self._count)
        return True

    def _may_drop(self, since: float, now: float) -> bool:
        if now - since < self.target_ms:
            self._first_above_at = 0.0
            return False
        if self._first_above_at == 0:
            self._first_above_at = now + self.interval_ms
            return False
        return now >= self._first_above_at

    def _go_on_dropping(self, may_drop: bool, now: float) -> bool:
        if not may_drop:
            self._dropping = False
            return False
        if now < self._drop_next_at:
            return False
        self._count += 1
        return True


class ClaimQueue:
    """Queue the claims; one that is answered, cancelled or too late leaves at once."""

    def __init__(
        self,
        timers: Timers,
        max_waiting: int | None,
        target_delay: float | None,
    ) -> None:
        self.codel = ControlledDelay(target_delay) if target_delay else None
        self.waits_ms: deque[float] = deque(maxlen=WAITS_KEPT)
        self.waiting: dict[Any, float] = {}  # since when
        self._limited: set[Any] = set()  # those with a timer
        self._queued = self._longest = 0
        self._timers = timers
        self._max_waiting = math.inf if max_waiting is None else max_waiting

    def __len__(self) -> int:
        return len(self.waiting)

    def __contains__(self, holder: Any) -> bool:
        return holder in self.waiting

    def put(self, holder: Any, timeout_ms: float | None, now: float) -> None:
        if self.codel:
            timeout_ms = self.codel.limit_ms(now)
        if not self.put_last(holder, now):
            raise ClaimQueueFullError(f"claims that wait already: {len(self.waiting)}")
        if timeout_ms is not None and timeout_ms < math.inf:
            self._limited.add(holder)
            self._timers.set(("claim", holder), now + timeout_ms)

    def put_last(self, holder: Any, now: float) -> bool:
        """Let a claim wait without a limit; return False if too many do."""
        waiting = self.waiting
        count = len(waiting)
        if count >= self._max_waiting:
            return False
        waiting[holder] = now
        self._queued += 1
        if count >= self._longest:
            self._longest = count + 1
        return True

    def counters(self) -> dict[str, int]:
        counted = {"queued-claim": self._queued, "max-claim-queue": self._longest}
        return counted if self._queued else {}

    def check_timeout(self, timeout_ms: float | None) -> None:
        if self.codel and timeout_ms is not None:
            raise InvalidInput("a claim has no timeout of its own when target_claim_delay is set")

    def discard(self, holder: Any) -> bool:
        """Forget a claim; return False if it was not waiting."""
        if holder in self._limited:
            self._limited.discard(holder)
            self._timers.cancel(("claim", holder))
        return self.waiting.pop(holder, None) is not None

    def pop(self, now: float) -> tuple[Any, bool] | None:
        """Return the claim that waited longest, and whether it waited too long and is dropped."""
        holder = self.pop_first(now)
        if holder is None:
            return None
        since = now - self.waits_ms[-1]
        return holder, self.codel is not None and self.codel.overloaded(since, now)

    def pop_first(self, now: float) -> Any:
        """Return the claim that waited longest, which from now on nobody else answers."""
        for holder in self.waiting:  # the shortest way to the first
            since = self.waiting.pop(holder, None)
            if since is None:  # a finalizer was faster
                return self.pop_first(now)
            if self._limited and holder in self._limited:
                self._limited.discard(holder)
                self._timers.cancel(("claim", holder))
            self.waits_ms.append(now - since)
            return holder
        return None

    def pop_all(self) -> list[Any]:
        return [holder for holder in list(self.waiting) if self.discard(holder)]

    def wait_p95_ms(self) -> float | None:
        """Return the value over the latest claims that had to wait; None if there were none."""
        waits = sorted(self.waits_ms)
        return waits[math.ceil(len(waits) * 0.95) - 1] if waits else None

    def note_idle(self, now: float) -> None:
        """Note that a connection is free and nobody waits."""
        if self.codel:
            self.codel.empty(now)
