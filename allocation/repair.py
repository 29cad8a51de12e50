"""A repair: something the one active curator looks for and mends, a bounded number per sweep."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from allocation.leases import HeldLease


@dataclass(frozen=True)
class Repair:
    """`run(now, lease)` mends what it finds and returns how many.

    Each of its database transactions calls `lease.guard()` first, so that a curator that
    was replaced meanwhile changes nothing. It mends no more than about its budget at once; if
    that was not enough it is called again as soon as every other repair had its turn.
    """

    name: str
    run: Callable[[datetime, HeldLease], int]
    every_seconds: float = 1.0
    budget: int = 1000

    def pause_after(self, mended: int) -> float:
        return 0.0 if mended >= self.budget else self.every_seconds
