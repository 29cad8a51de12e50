"""How long an answer is believed: never below the floor, never above the ceiling."""

from dataclasses import dataclass

HOUR_MS = 3600 * 1000.0


@dataclass(frozen=True, slots=True)
class TtlLimits:
    floor_ms: float = 5000.0
    ceiling_ms: float = HOUR_MS

    def clamp(self, ttl_ms: float) -> float:
        return max(self.floor_ms, min(ttl_ms, self.ceiling_ms))


def spread(delay_ms: float, share: float, chance: float) -> float:
    """Only ever later, by up to `share`, so that many names do not ask in step."""
    return delay_ms * (1 + share * chance)
