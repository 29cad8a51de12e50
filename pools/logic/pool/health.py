"""Health checks with failures and successes in a row, and the ejection of outliers.

An outlier is a backend whose answers keep failing however well it connects.
"""

from dataclasses import dataclass

from pools.logic.numbers import check_count, check_positive


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    rise: int = 1
    fall: int = 3

    def __post_init__(self) -> None:
        check_count("health.rise", self.rise, least=1)
        check_count("health.fall", self.fall, least=1)


class Health:
    def __init__(self, policy: HealthPolicy) -> None:
        self.policy = policy
        self._falls: dict[str, int] = {}
        self._rises: dict[str, int] = {}

    def failed(self, key: str) -> bool:
        """Return True when the backend has failed often enough to be called dead."""
        self._rises.pop(key, None)
        self._falls[key] = self._falls.get(key, 0) + 1
        return self._falls[key] >= self.policy.fall

    def passed(self, key: str) -> bool:
        """Return True when the backend has passed often enough to be trusted."""
        self._falls.pop(key, None)
        self._rises[key] = self._rises.get(key, 0) + 1
        return self._rises[key] >= self.policy.rise

    def forget(self, key: str) -> None:
        self._falls.pop(key, None)
        self._rises.pop(key, None)


@dataclass(frozen=True, slots=True)
class OutlierPolicy:
    failures: int = 5
    base_ms: float = 30_000.0
    max_share: float = 0.1
    max_ms: float = 300_000.0

    def __post_init__(self) -> None:
        check_count("outliers.failures", self.failures, least=1)
        for name in ("base_ms", "max_ms", "max_share"):
            check_positive(f"outliers.{name}", getattr(self, name))


class Outliers:
    """Count consecutive failures per key; `failed` says when one is to be ejected."""

    def __init__(self, policy: OutlierPolicy) -> None:
        self.policy = policy
        self.strikes: dict[str, int] = {}
        self.ejected: dict[str, float] = {}
        self._times: dict[str, int] = {}

    def succeeded(self, key: str) -> None:
        self.strikes.pop(key, None)

    def failed(self, key: str, now: float, known: int, usable: int) -> bool:
        """Count one more failure; return True if the key is ejected now.

        At most a share of the `known` backends rests at once (but one may always), and never the
        last one of the `usable`.
        """
        strikes = self.strikes[key] = self.strikes.get(key, 0) + 1
        if strikes < self.policy.failures or key in self.ejected or usable <= 1:
            return False
        if len(self.ejected) >= max(1, int(known * self.policy.max_share)):
            return False
        self._times[key] = self._times.get(key, 0) + 1
        rest_ms = min(self.policy.base_ms * self._times[key], self.policy.max_ms)
        self.ejected[key] = now + rest_ms
        del self.strikes[key]
        return True

    def return_due(self, now: float) -> list[str]:
        due = [key for key, until in self.ejected.items() if until <= now]
        for key in due:
            del self.ejected[key]
        return due

    def forget(self, key: str) -> None:
        for known in (self.strikes, self.ejected, self._times):
            known.pop(key, None)
