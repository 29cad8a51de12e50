"""Spans of time as people write them: 500ms, 90s, 5m, 1h30m, 2d."""

import re

UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
SPAN = re.compile(r"\s*".join(rf"(?:(\d{{1,12}})\s*{unit})?" for unit in UNITS), re.ASCII)


def milliseconds(text: str) -> int | None:
    """None for a text that is no span; a number without a unit is none."""
    found = SPAN.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    counts = (int(count or 0) for count in found.groups())
    return sum(count * size for count, size in zip(counts, UNITS.values(), strict=True))


def written(span_ms: int) -> str:
    """The shortest way to write it; what `milliseconds` reads back, and 0 for none."""
    parts, left = [], span_ms
    for unit, size in UNITS.items():
        count, left = divmod(left, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0"
