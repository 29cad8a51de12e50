"""Spans of time as people write them: 500ms, 90s, 5m, 1h30m, 2d.

Counts in sentences.
"""

import re


def pluralize(count: int, one: str, many: str = "") -> str:
    """«1 job», «2 jobs»; the plural is given where it is more than an s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
PART = re.compile(r"(\d{1,12})\s*(d|h|ms|m|s)\s*", re.ASCII)


def milliseconds(text: str) -> int | None:
    """None for a text that is no span; a number without a unit is none."""
    text, units = text.strip(), iter(UNITS)
    total = position = 0
    while part := PART.match(text, position):
        if part[2] not in units:  # which asks on behind the unit before: no unit stands twice
            return None
        total += int(part[1]) * UNITS[part[2]]
        position = part.end()
    return total if position and position == len(text) else None


def written(span_ms: int) -> str:
    """The shortest way to write it; what `milliseconds` reads back, and 0 for none."""
    parts, left = [], span_ms
    for unit, size in UNITS.items():
        count, left = divmod(left, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0"
