"""How long to wait before a failed run is tried again."""

import math

DAY_MS = 24 * 60 * 60 * 1000
DEFAULT_MS = 1000
STRATEGIES = ("exponential", "foxx")


def delay(strategy: str, unit_ms: int, failures: int, chance: float) -> int:
    """Return the milliseconds after the `failures`-th failure of a run; `chance` is in [0, 1)."""
    if strategy == "foxx":
        return foxx(unit_ms, failures - 1, chance)
    return exponential(unit_ms, failures, chance)


def exponential(unit_ms: int, failures: int, chance: float) -> int:
    """Double the unit for every failure after the first; a quarter of jitter either way."""
    base = min(unit_ms * 2 ** min(failures - 1, 40), DAY_MS)
    return min(round(base * (0.75 + 0.5 * chance)), DAY_MS)


def foxx(unit_ms: int, earlier: int, chance: float) -> int:
    """Use Foxx's formula: none at first, then a random multiple of the unit up to `earlier`."""
    return min(unit_ms * math.floor(chance * (earlier + 1)), DAY_MS)


def checked(value: object) -> int | None:
    """Return what a back-off function returned, or None when it is no duration."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if math.isnan(value) or value < 0:
        return None
    return DAY_MS if value > DAY_MS else round(value)
