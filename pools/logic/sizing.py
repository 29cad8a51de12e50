"""How many connections a pool should have: what is needed now, and a little of what was needed."""

import math
from collections.abc import Collection

from pools.logic.lowpass import LowPass
from pools.logic.slot import BUSY, Slot

ROUNDING = 0.05  # what is left of old samples does not hold on to a whole connection


class Sizing:
    def __init__(self, spares: int, maximum: int, level: int) -> None:
        """`level` is the demand at rest, from which memories of more fade."""
        self.spares = spares
        self.maximum = maximum
        self.is_clamped = False
        self._peak = 0
        self._filter = LowPass(level)

    def demand(self, slots: Collection[Slot], waiting: int, living: int) -> int:
        """Every claim, every spare, and a replacement for each slot that is trying again.

        Replacements are for other backends than the one in trouble, so a pool with one `living`
        backend gets none. The limit must not depend on how many are in trouble: opening and
        giving up replacements would never end.
        """
        busy = sum(slot.state == BUSY for slot in slots)
        trying = sum(slot.is_retrying and not slot.is_monitor for slot in slots)
        limit = max(0, living - 1) * max(1, self.spares)
        return busy + min(trying, limit) + waiting + self.spares

    def target(self, demand: int) -> int:
        """Grow at once, shrink slowly."""
        self._peak = max(self._peak, demand)
        floor = math.ceil(self._filter.value() - ROUNDING)
        self.is_clamped = demand < floor
        return min(max(demand, floor), self.maximum)

    def sample(self, demand: int) -> bool:
        """Remember the most that was wanted since; False when more of it would change nothing."""
        self._filter.put(max(demand, self._peak))
        self._peak = 0
        return not self._filter.is_level(demand)
