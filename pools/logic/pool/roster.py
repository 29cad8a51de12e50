"""The backends of a pool in order of preference, with those that are dead or resting."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from pools.logic.backends import Backend
from pools.logic.dns.srv import insertion_index, reachable_tiers
from pools.logic.pool.config import PoolConfig
from pools.logic.pool.health import Health, OutlierPolicy, Outliers


@dataclass(frozen=True, slots=True)
class Death:
    """Why a backend is dead: it refused connections, failed checks, or closed them too soon."""

    at: float
    kind: str
    error: BaseException | None


class Roster:
    def __init__(self, config: PoolConfig, chance: Callable[[], float]) -> None:
        self.backends: dict[str, Backend] = {}
        self.preference: list[str] = []
        self.dead: dict[str, Death] = {}
        self.health = Health(config.health)
        self.outliers = Outliers(config.outliers or OutlierPolicy())
        self.succeeded: set[str] = set()
        self.trusted: set[str] = set()  # they served, and no connection has broken in use since
        self._ejects = config.outliers is not None
        self._chance = chance

    def add(self, backend: Backend) -> None:
        """Add a backend; a known key keeps its place, even with another weight or priority."""
        if backend.key not in self.backends:
            index = insertion_index(self.preference, self.backends, backend, self._chance)
            self.preference.insert(index, backend.key)
        self.backends[backend.key] = backend

    def remove(self, key: str) -> bool:
        if self.backends.pop(key, None) is None:
            return False
        self.preference.remove(key)
        self.dead.pop(key, None)
        self.succeeded.discard(key)
        self.trusted.discard(key)
        self.health.forget(key)
        self.outliers.forget(key)
        return True

    def reshuffle(self) -> None:
        """Move the last one to a random place, so that many pools do not prefer the same one."""
        if self.preference:
            backend = self.backends[self.preference.pop()]
            index = insertion_index(self.preference, self.backends, backend, self._chance)
            self.preference.insert(index, backend.key)

    def in_use(self, watched: int) -> list[str]:
        """Return the keys that deserve connections, in order of preference.

        While others live, only `watched` dead ones are included: they must not take every place.
        """
        down = self.dead.keys() | self.outliers.ejected.keys()
        tiers = reachable_tiers(self.backends, down)
        rests = self._resting(down)
        keys = [key for key in self.preference if key in tiers and key not in rests]
        dead = [key for key in keys if key in self.dead]
        left_out = set(dead[watched:]) if len(dead) < len(keys) else set()
        return [key for key in keys if key not in left_out]

    def _resting(self, down: Collection[str]) -> Collection[str]:
        """Return the ejected ones; when all others are dead a bad backend is better than none."""
        if len(down) >= len(self.backends):
            return ()
        return self.outliers.ejected.keys() - self.dead.keys()

    def is_all_dead(self) -> bool:
        return bool(self.backends) and len(self.dead) >= len(self.backends)

    def result_failed(self, key: str, now: float) -> bool:
        """Count a bad result; return True if the backend is sent to rest for it."""
        if not self._ejects or key not in self.backends:
            return False
        down = self.dead.keys() | self.outliers.ejected.keys()
        usable = len(self.backends) - len(down)
        return self.outliers.failed(key, now, len(self.backends), usable)
