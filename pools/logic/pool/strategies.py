"""Choose which of the idle connections a claim gets."""

from collections import Counter, deque
from collections.abc import Callable, Iterable

from pools.logic.backends import Backend
from pools.logic.dns.srv import is_weighted, weight_of
from pools.logic.pool.slot import BUSY, Slot

STRATEGIES = ("fifo", "least_busy", "p2c", "weighted")


class Balancer:
    """`fifo` takes the connection that rested longest, so that all are used evenly."""

    def __init__(self, strategy: str, chance: Callable[[], float]) -> None:
        self.strategy = strategy
        self.served: Counter[str] = Counter()
        self._chance = chance

    def pick(self, idle: deque[Slot], slots: Iterable[Slot]) -> Slot:
        if self.strategy == "weighted":
            slot = self._weighted(idle)
        else:
            slot = self._least_busy(idle, Counter(s.key for s in slots if s.state == BUSY))
        idle.remove(slot)
        self.served[slot.key] += 1
        return slot

    def _weighted(self, idle: deque[Slot]) -> Slot:
        return min(idle, key=lambda s: (self.served[s.key] + 1) / weight_of(s.backend))

    def _least_busy(self, idle: deque[Slot], busy: Counter[str]) -> Slot:
        candidates: Iterable[Slot] = idle
        if self.strategy == "p2c":
            candidates = [idle[int(self._chance() * len(idle))] for _ in range(2)]
        return min(candidates, key=lambda slot: busy[slot.key])

    def start_again(self) -> None:
        """Let a newcomer start level with the others instead of catching up."""
        self.served.clear()


def chosen(
    strategy: str | None,
    backends: Iterable[Backend],
    before: Balancer | None,
    chance: Callable[[], float],
) -> Balancer | None:
    """Honour SRV weights that differ, unless another strategy was asked for."""
    if strategy is None and is_weighted(backends):
        strategy = "weighted"
    if strategy in (None, "fifo"):
        return None
    if before is None or before.strategy != strategy:
        return Balancer(str(strategy), chance)
    before.start_again()
    return before
