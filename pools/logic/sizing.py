"""How many connections a pool should have: what is needed now, and a little of what was needed."""

import math
from collections.abc import Iterable

from pools.logic.lowpass import LowPass
from pools.logic.slot import BUSY, Slot

ROUNDING = 0.05  # what is left of old samples does not hold on to a whole connection


class Sizing:
    def __init__(self, spares: int, maximum: int) -> None:
        self.spares = spares
        self.maximum = maximum
        self.is_clamped = False
        self._filter = LowPass()

    def demand(self, slots: Iterable[Slot], waiting: int) -> int:
        """Every claim, every spare, and a replacement for each slot that is trying again."""
        used = sum(s.state == BUSY or (s.is_retrying and not s.is_monitor) for s in slots)
        return used + waiting + self.spares

    def target(self, demand: int) -> int:
        """Grow at once, shrink slowly."""
        floor = math.ceil(self._filter.value() - ROUNDING)
        self.is_clamped = demand < floor
        return min(max(demand, floor), self.maximum)

    def sample(self, demand: int) -> bool:
        """Remember the demand; False when remembering more of it would change nothing."""
        self._filter.put(demand)
        return not self._filter.is_level(demand)
