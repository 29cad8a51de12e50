"""Decide how long an answer is believed, and how long old ones are kept without a new one."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pools.logic.errors import InvalidInput
from pools.logic.numbers import check_wait

FIVE_MINUTES_MS = 300_000.0

DEFAULT_MAX_STALE_MS = {
    "error": math.inf,  # time-outs, SERVFAIL and the like say nothing about the name
    "refused": math.inf,
    "nxdomain": FIVE_MINUTES_MS,
    "nodata": FIVE_MINUTES_MS,
    "none": 0.0,  # an SRV target of "." is a clear no
}
HOUR_MS = 3600 * 1000.0


@dataclass(frozen=True, slots=True)
class Stale:
    since: float
    cause: str


@dataclass(frozen=True, slots=True)
class StalePolicy:
    """Keep old answers up to `max_stale_ms` per cause; `keep_on_empty` decides about empty ones."""

    max_stale_ms: Mapping[str, float] = field(default_factory=dict)
    keep_on_empty: bool = True

    def __post_init__(self) -> None:
        for cause, hold_ms in self.max_stale_ms.items():
            if cause not in DEFAULT_MAX_STALE_MS:
                known = ", ".join(DEFAULT_MAX_STALE_MS)
                raise InvalidInput(f"stale: {cause!r} is not a cause; the causes are {known}")
            check_wait(f"stale: {cause}", hold_ms)

    def hold_ms(self, cause: str) -> float:
        if cause == "nodata" and not self.keep_on_empty:
            return 0.0
        return self.max_stale_ms.get(cause, DEFAULT_MAX_STALE_MS[cause])

    def drop_at(self, stale: Stale) -> float:
        return stale.since + self.hold_ms(stale.cause)

    def is_over(self, stale: Stale, now: float) -> bool:
        return now >= self.drop_at(stale)


def renewed(stale: Stale | None, cause: str, now: float) -> Stale:
    """Let the clock run on while the cause stays the same; start it again when it changes."""
    if stale is not None and stale.cause == cause:
        return stale
    return Stale(now, cause)


@dataclass(frozen=True, slots=True)
class TtlLimits:
    floor_ms: float = 5000.0
    ceiling_ms: float = HOUR_MS

    def clamp(self, ttl_ms: float) -> float:
        return max(self.floor_ms, min(ttl_ms, self.ceiling_ms))


def spread(delay_ms: float, share: float, chance: float) -> float:
    """Make a delay longer by up to `share`, so that many names do not ask in step."""
    return delay_ms * (1 + share * chance)
