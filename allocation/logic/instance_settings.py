"""Check what a caller wants of an instance: settings, reason, source, pace of a drain."""

import math
from collections.abc import Callable, Mapping

SETTINGS = ("weight", "capacity", "labels")
SOURCES = ("manual", "dns", "worker")
MOST_WEIGHT = 1_000_000
MOST_CAPACITY = 2_000_000_000
MOST_MOVES_PER_MINUTE = 1_000_000
MOST_SECONDS = 365 * 86_400
LONGEST_TEXT = 255
WEIGHT_HELP = "its share of new keys; the strategy md5-modulo (the default) ignores it"


def refusal(values: Mapping[str, object], *, settings_only: bool = False) -> str | None:
    """Return why these values are refused; None if they are fine."""
    for name, value in values.items():
        if name not in (SETTINGS if settings_only else CHECKS):
            return f"an instance has no {name}: there are {', '.join(SETTINGS)}"
        if not CHECKS[name](value):
            return f"{name} must be {SENTENCES[name]}"
    return None


def _is_whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _is_seconds(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0 <= value <= MOST_SECONDS


def _is_text(value: object) -> bool:
    """Return whether it is a text that both databases can store."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or "\x00" in value:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _are_labels(value: object) -> bool:
    return isinstance(value, dict) and all(
        bool(name) and _is_text(name) and (type(each) is int or _is_text(each))
        for name, each in value.items()
    )


CHECKS: dict[str, Callable[[object], bool]] = {
    "weight": lambda value: _is_whole(value, 1, MOST_WEIGHT),
    "capacity": lambda value: value is None or _is_whole(value, 0, MOST_CAPACITY),
    "labels": _are_labels,
    "reason": _is_text,
    "lease_seconds": lambda value: value is None or (_is_seconds(value) and value != 0),
    "every_seconds": lambda value: _is_seconds(value) and value != 0,
    "deadline_seconds": lambda value: value is None or _is_seconds(value),
    "moves_per_minute": lambda value: value is None or _is_whole(value, 1, MOST_MOVES_PER_MINUTE),
    "source": lambda value: value in SOURCES,
}
SENTENCES = {
    "every_seconds": f"a number of seconds above 0, at most {MOST_SECONDS}",
    "weight": f"a whole number from 1 to {MOST_WEIGHT}",
    "capacity": f"a whole number from 0 to {MOST_CAPACITY}, or nothing",
    "labels": f"names with texts of at most {LONGEST_TEXT} characters",
    "reason": f"a text of at most {LONGEST_TEXT} characters",
    "lease_seconds": f"a number above 0, at most {MOST_SECONDS}",
    "deadline_seconds": f"a number from 0 to {MOST_SECONDS}",
    "moves_per_minute": f"a whole number from 1 to {MOST_MOVES_PER_MINUTE}",
    "source": "manual, dns or worker",
}
