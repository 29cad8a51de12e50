"""How many connections a pool should have: what is needed now, and a little of what was needed."""

import math
from collections.abc import Collection

from pools.logic.lowpass import LowPass
from pools.logic.slot import BUSY, Slot

ROUNDING = 0.05  # what is left of old samples does not hold on to a whole connection


class Sizing:
    def __init__(self, spares: int, maximum: int) -> None:
        self.spares = spares
        self.maximum = maximum
        self.is_clamped = False
        self._filter = LowPass()

    def demand(self, slots: Collection[Slot], waiting: int, keys: Collection[str]) -> int:
        """Every claim, every spare, and a replacement for each slot that is trying again.

        There is no replacement when all the backends (`keys`) are in the same trouble.
        """
        busy = sum(slot.state == BUSY for slot in slots)
        trying = [slot.key for slot in slots if slot.is_retrying and not slot.is_monitor]
        replaced = len(trying) if not set(keys) <= set(trying) else 0
        return busy + replaced + waiting + self.spares

    def target(self, demand: int) -> int:
        """Grow at once, shrink slowly."""
        floor = math.ceil(self._filter.value() - ROUNDING)
        self.is_clamped = demand < floor
        return min(max(demand, floor), self.maximum)

    def sample(self, demand: int) -> bool:
        """Remember the demand; False when remembering more of it would change nothing."""
        self._filter.put(demand)
        return not self._filter.is_level(demand)
