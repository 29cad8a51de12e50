"""Read numbers and spans of time (500ms, 90s, 5m, 1h30m, 2d) as people type them, and write them.

Python's `int` and `float` read more than that: 1_0, digits of every script, nan. And write out
characters of others that terminals and viewers of logs obey, and commands as this site's are typed.
"""

import re

from django.conf import settings

UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
WHOLE = re.compile(r"-?[0-9]{1,18}")
NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")
# Control characters but tab and newline, marks of direction, line separators, half characters.
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb]"
)
COMMAND = re.compile(r"(?<![\w./-])manage\.py(?=\s)")
PART = re.compile(r"(\d{1,12})\s*(d|h|ms|m|s)\s*", re.ASCII)


def pluralize(count: int, one: str, many: str = "") -> str:
    """Return "1 job" or "2 jobs"; `many` is given where the plural is more than an s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def runnable(text: str) -> str:
    """Write the commands in a text as this site's operators type them.

    The code writes `manage.py`, which is also what runs commands in a Django project of others.
    """
    program = getattr(settings, "ATRIBUTO_PROGRAM", "manage.py")
    return COMMAND.sub(lambda match: program, text)


def harmless(text: str) -> str:
    r"""Write out what a terminal would obey, as JSON does: Escape becomes \u001b."""
    return OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def whole_number(text: str) -> int | None:
    """Read a whole number of ASCII digits; None for any other text."""
    text = text.strip()
    return int(text) if WHOLE.fullmatch(text) else None


def number(text: str) -> float | None:
    """Read a number with or without decimals; None for any other text."""
    text = text.strip()
    return float(text) if NUMBER.fullmatch(text) else None


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
