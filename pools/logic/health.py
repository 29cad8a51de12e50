"""Health checks: so many failures in a row to fall, so many successes in a row to rise."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    rise: int = 1
    fall: int = 3


class Health:
    def __init__(self, policy: HealthPolicy) -> None:
        self.policy = policy
        self._falls: dict[str, int] = {}
        self._rises: dict[str, int] = {}

    def failed(self, key: str) -> bool:
        """True when the backend has failed often enough to be called dead."""
        self._rises.pop(key, None)
        self._falls[key] = self._falls.get(key, 0) + 1
        return self._falls[key] >= self.policy.fall

    def passed(self, key: str) -> bool:
        """True when the backend has passed often enough to be trusted."""
        self._falls.pop(key, None)
        self._rises[key] = self._rises.get(key, 0) + 1
        return self._rises[key] >= self.policy.rise

    def forget(self, key: str) -> None:
        self._falls.pop(key, None)
        self._rises.pop(key, None)
