"""Format and read spans of time (500ms, 90s, 5m, 1h30m, 2d), and counts in sentences."""

import re

UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
PART = re.compile(r"(\d{1,12})\s*(d|h|ms|m|s)\s*", re.ASCII)


def pluralize(count: int, one: str, many: str = "") -> str:
    """Return "1 job" or "2 jobs"; `many` is given where the plural is more than an s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def milliseconds(text: str) -> int | None:
    """Read a span; None for any other text, and for a number without a unit."""
    text, units = text.strip(), iter(UNITS)
    total = position = 0
    while part := PART.match(text, position):
        if part[2] not in units:  # each unit is smaller than the one before
            return None
        total += int(part[1]) * UNITS[part[2]]
        position = part.end()
    return total if position and position == len(text) else None


def written(span_ms: int) -> str:
    """Write a span as shortly as `milliseconds` can read it back; 0 for none."""
    parts, left = [], span_ms
    for unit, size in UNITS.items():
        count, left = divmod(left, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0"
