"""A set of connections for protocols that share them: announced, one per backend, not leased."""

from collections import Counter
from collections.abc import Callable

from pools.logic.pool.actions import Advertise, Withdraw
from pools.logic.pool.config import PoolConfig
from pools.logic.pool.pool import PoolMachine
from pools.logic.pool.slot import BUSY, Slot


class SetMachine(PoolMachine):
    """Keep as many connections as `spares` says.

    Every connection is held by its key from the moment it works until its user lets it go.
    """

    is_singleton = True

    def __init__(self, config: PoolConfig, chance: Callable[[], float]) -> None:
        super().__init__(config, chance)
        self.target = config.spares
        self._serials: Counter[str] = Counter()

    def demand(self) -> int:
        return self.target

    def set_target(self, target: int) -> None:
        self.target = target
        self.shape.want_rebalance()

    def become_idle(self, slot: Slot, now: float) -> None:
        """Announce a working connection, and let an older one go if that is possible now."""
        self._serials[slot.key] += 1
        slot.lend(f"{slot.key}.{self._serials[slot.key]}")
        slot.leased_at = now
        self.actions.append(Advertise(slot.holder, slot))
        self.shape.want_rebalance()

    def became_doomed(self, slot: Slot) -> None:
        self.actions.append(Withdraw(slot.holder, slot))

    def is_last(self, slot: Slot) -> bool:
        """Return True if there would be no working connection without this one."""
        others = (s for s in self.slots.all() if s is not slot)
        works = slot.state == BUSY and slot.doomed is None
        return works and not any(s.state == BUSY and s.doomed is None for s in others)
