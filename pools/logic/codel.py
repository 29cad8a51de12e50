"""Controlled delay: which waiting claims to give up so that the others wait about the target."""

import math

INTERVAL_MS = 100.0


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
        """The queue is empty and a connection is idle."""
        self._last_empty_at = now
        self._first_above_at = 0.0

    def limit_ms(self, now: float) -> float:
        """The hard limit of a claim that begins to wait now."""
        last = self._last_empty_at
        overloaded = last is not None and now - last > self.target_ms * 10
        return self.target_ms * (3 if overloaded else 10)

    def overloaded(self, since: float, now: float) -> bool:
        """True if the claim that has waited since `since` is to be dropped."""
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
