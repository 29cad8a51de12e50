"""A limit on how fast the connections to one backend may come and go."""

import math


class Churn:
    def __init__(self, max_rate: float) -> None:
        self._gap_ms = 1000.0 / max_rate if max_rate < math.inf else 0.0
        self._last: dict[str, float] = {}

    def allows(self, key: str, now: float) -> bool:
        """True once per gap and backend; the caller then makes its change."""
        if now < self.next_at(key):
            return False
        self._last[key] = now
        return True

    def next_at(self, key: str) -> float:
        return self._last.get(key, -math.inf) + self._gap_ms
