"""The claims that wait for a connection, first come first served."""

import math
from collections import Counter, deque
from typing import Any

from pools.logic.codel import ControlledDelay
from pools.logic.errors import ClaimQueueFullError, InvalidInput
from pools.logic.timers import Timers

WAITS_KEPT = 200


class ClaimQueue:
    """Whoever is answered, cancelled or too late is gone from it at once."""

    def __init__(
        self,
        timers: Timers,
        counters: Counter[str],
        max_waiting: int | None,
        target_delay: float | None,
    ) -> None:
        self.codel = ControlledDelay(target_delay) if target_delay else None
        self.waits_ms: deque[float] = deque(maxlen=WAITS_KEPT)
        self._since: dict[Any, float] = {}
        self._longest = 0
        self._timers = timers
        self._counters = counters
        self._max_waiting = math.inf if max_waiting is None else max_waiting

    def __len__(self) -> int:
        return len(self._since)

    def __contains__(self, holder: Any) -> bool:
        return holder in self._since

    def put(self, holder: Any, timeout_ms: float | None, now: float) -> None:
        if len(self._since) >= self._max_waiting:
            raise ClaimQueueFullError(f"claims that wait already: {len(self._since)}")
        if self.codel:
            timeout_ms = self.codel.limit_ms(now)
        if timeout_ms is not None and math.isnan(timeout_ms):
            raise InvalidInput(f"timeout must be a number of milliseconds: {timeout_ms}")
        if timeout_ms is not None and timeout_ms < math.inf:
            self._timers.set(("claim", holder), now + timeout_ms)
        self._since[holder] = now
        self._counters["queued-claim"] += 1
        if len(self._since) > self._longest:
            self._longest = self._counters["max-claim-queue"] = len(self._since)

    def check_timeout(self, timeout_ms: float | None) -> None:
        if self.codel and timeout_ms is not None:
            raise InvalidInput("a claim has no timeout of its own when target_claim_delay is set")

    def discard(self, holder: Any) -> bool:
        """Forget a claim; False if it was not waiting."""
        self._timers.cancel(("claim", holder))
        return self._since.pop(holder, None) is not None

    def pop(self, now: float) -> tuple[Any, bool] | None:
        """The claim that waited longest, and whether it is to be dropped for having done so."""
        if not self._since:
            return None
        holder, since = next(iter(self._since.items()))
        self.discard(holder)
        self.waits_ms.append(now - since)
        return holder, self.codel is not None and self.codel.overloaded(since, now)

    def pop_all(self) -> list[Any]:
        holders = list(self._since)
        for holder in holders:
            self.discard(holder)
        return holders

    def wait_p95_ms(self) -> float | None:
        """Of the latest claims that had to wait; None if none ever had."""
        waits = sorted(self.waits_ms)
        return waits[math.ceil(len(waits) * 0.95) - 1] if waits else None

    def note_idle(self, now: float) -> None:
        """A connection is free and nobody waits."""
        if self.codel:
            self.codel.empty(now)
