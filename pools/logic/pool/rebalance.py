"""Plan which connections to open and which to give up, so that every backend gets its share."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

S = TypeVar("S", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Plan(Generic[S]):
    add: list[str]
    remove: list[S]


def plan_rebalance(
    backends: Sequence[tuple[str, Sequence[S]]],
    dead: Collection[str],
    target: int,
    maximum: int,
    singleton: bool = False,
) -> Plan[S]:
    """Plan for `backends` in order of preference with their slots, the oldest first."""
    if target < 0 or maximum < target:
        raise ValueError(f"need 0 <= target <= maximum, not {target} and {maximum}")
    wanted = _Shares([key for key, _ in backends], dead, maximum, singleton).share(target)
    return _difference(backends, wanted)


def plan_weighted(
    backends: Sequence[tuple[str, Sequence[S]]],
    weights: Mapping[str, float],
    dead: Collection[str],
    target: int,
    maximum: int,
) -> Plan[S]:
    """Plan connections in proportion to the weights, so that they hold when all are in use."""
    living = [key for key, _ in backends if key not in dead]
    wanted = {key: 0 for key, _ in backends} | apportion({k: weights[k] for k in living}, target)
    room = maximum - sum(wanted.values())
    for key in [key for key, _ in backends if key in dead][: max(room, int(not living))]:
        wanted[key] = 1
    return _difference(backends, wanted)


def apportion(weights: Mapping[str, float], count: int) -> dict[str, int]:
    """Divide a count by weight; each gets one as long as there are enough."""
    total = sum(weights.values())
    shares = {key: count * weight / total for key, weight in weights.items()}
    given = {key: int(share) for key, share in shares.items()}
    if count >= len(weights):
        given = {key: max(1, number) for key, number in given.items()}
    while sum(given.values()) > count:
        given[max(given, key=lambda key: given[key] - shares[key] if given[key] > 1 else -1)] -= 1
    while given and sum(given.values()) < count:
        given[max(given, key=lambda key: shares[key] - given[key])] += 1
    return given


def _difference(backends: Sequence[tuple[str, Sequence[S]]], wanted: Mapping[str, int]) -> Plan[S]:
    add = [key for key, slots in backends for _ in range(wanted[key] - len(slots))]
    remove = [
        slot
        for key, slots in reversed(backends)
        for slot in slots[: max(0, len(slots) - wanted[key])]
    ]
    return Plan(add, remove)


class _Shares:
    """Compute how many connections each backend should have."""

    def __init__(
        self, keys: list[str], dead: Collection[str], maximum: int, singleton: bool
    ) -> None:
        self.keys = keys
        self.dead = dead
        self.maximum = maximum
        self.singleton = singleton
        self.wanted = dict.fromkeys(keys, 0)
        self.considered: set[str] = set()
        self.replacements = 0

    def share(self, target: int) -> dict[str, int]:
        if not self.keys:
            return self.wanted
        for i in range(target):
            self._offer(self.keys[i % len(self.keys)])
        allocated = sum(self.wanted.values())
        self.replacements = min(self.replacements, self.maximum - allocated)
        self._replace(target, allocated)
        return self.wanted

    def _offer(self, key: str) -> None:
        self.considered.add(key)
        if key in self.dead:
            self.wanted[key] = 1
            self.replacements += 1
        elif not self.singleton or self.wanted[key] == 0:
            self.wanted[key] += 1

    def _replace(self, start: int, allocated: int) -> None:
        i = 0
        while i < self.replacements:
            key = self.keys[(start + i) % len(self.keys)]
            if not self._place(key, allocated + self.replacements - i):
                return
            i += 1

    def _place(self, key: str, count: int) -> bool:
        """Give one replacement to `key` or past it; return False when there is no room left."""
        self.considered.add(key)
        if key not in self.dead and not (self.singleton and self.wanted[key]):
            self.wanted[key] += 1
            return True
        if count + 1 <= self.maximum:
            self.wanted[key] = 1
            self.replacements += self._candidate_remains()
        elif count <= self.maximum and self._candidate_remains():
            self.replacements += 1
        elif count <= self.maximum:
            self.wanted[key] = 1
        else:
            return False
        return True

    def _candidate_remains(self) -> bool:
        if self.singleton:
            return any(k not in self.dead and k not in self.considered for k in self.keys)
        return any(k not in self.dead or k not in self.considered for k in self.keys)
