"""Format durations and JSON, and choose the tone of a state; every tone has its own icon."""

import json
from math import ceil
from typing import Any

UNITS = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


def duration(seconds: float | None) -> str:
    """Return the two largest units as they are typed: 350ms, 4.2s, 12m3s, 3d4h."""
    if seconds is None:
        return "–"
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 0.9995:  # 1000ms is written as a second
        return f"{seconds * 1000:.0f}ms"
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + "s"
    return _two_units(int(max(seconds, 10)))


def roughly(seconds: float) -> str:
    """Return whole seconds, at least one, for a time to come or a setting."""
    return _two_units(max(1, ceil(seconds)))


def ago(seconds: float) -> str:
    """Return how long ago, or in how long; a second either way is now."""
    if abs(seconds) < 2:
        return "just now"
    text = _one_unit(int(abs(seconds)))
    return f"{text} ago" if seconds > 0 else f"in {text}"


def _two_units(seconds: int) -> str:
    for index, (name, size) in enumerate(UNITS):
        if seconds >= size:
            count, rest = divmod(seconds, size)
            smaller = UNITS[index + 1] if index + 1 < len(UNITS) else None
            more = rest // smaller[1] if smaller else 0
            return f"{count}{name}{more}{smaller[0]}" if smaller and more else f"{count}{name}"
    return "0s"


def _one_unit(seconds: int) -> str:
    name, size = next((unit for unit in UNITS if seconds >= unit[1]), UNITS[-1])
    return f"{seconds // size}{name}"


def pretty_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def one_line(value: Any) -> str:
    """Return a text as it is, anything else as JSON on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


TONES = {
    "ok": "ok alive active available running complete done ready up held present added returned"
    " fresh settled completed fine",
    "busy": "progress starting connecting working draining restarting aborting drain maintenance"
    " administered rolling_back pushed",
    "warn": "warning degraded silent late stale retrying kept gone aborted released skipped",
    "bad": "error failed dead down lost missing expired critical refused stuck orphaned overdue"
    " very_late missed",
    "info": "info notice",
    "idle": "pending waiting delayed blocked open standby idle stopped paused free unavailable"
    " unknown removed none",
}
TONE_OF = {word: tone for tone, words in TONES.items() for word in words.split()}


def tone(word: str) -> str:
    """Return the tone of a state word; idle for an unknown one."""
    return TONE_OF.get(word.lower().replace(" ", "_"), "idle")
