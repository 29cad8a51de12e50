"""Durations in one format everywhere: the two largest units that matter.

One tone and one icon for each word that says how something is; never colour alone.
"""

from math import ceil

UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


def duration(seconds: float | None) -> str:
    """For example 350 ms, 4.2 s, 12 min 3 s, 3 d 4 h."""
    if seconds is None:
        return "–"
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 0.9995:  # what would be said as 1000 ms is a second
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    return _two_units(int(max(seconds, 10)))


def roughly(seconds: float) -> str:
    """For what is still to come or was chosen: whole seconds, at least one."""
    return _two_units(max(1, ceil(seconds)))


def ago(seconds: float) -> str:
    """How long ago, or in how long; a second either way is now."""
    if abs(seconds) < 2:
        return "just now"
    said = _one_unit(int(abs(seconds)))
    return f"{said} ago" if seconds > 0 else f"in {said}"


def _two_units(seconds: int) -> str:
    for index, (name, size) in enumerate(UNITS):
        if seconds >= size:
            count, rest = divmod(seconds, size)
            smaller = UNITS[index + 1] if index + 1 < len(UNITS) else None
            more = rest // smaller[1] if smaller else 0
            return f"{count} {name} {more} {smaller[0]}" if smaller and more else f"{count} {name}"
    return "0 s"


def _one_unit(seconds: int) -> str:
    name, size = next((unit for unit in UNITS if seconds >= unit[1]), UNITS[-1])
    return f"{seconds // size} {name}"


TONES = {
    "ok": "ok alive active available running complete done ready up held present added returned"
    " fresh settled completed fine",
    "busy": "progress starting connecting working draining restarting aborting drain maintenance"
    " administered rolling_back",
    "warn": "warning degraded silent late stale retrying kept gone aborted released",
    "bad": "error failed dead down lost missing expired critical refused stuck orphaned overdue"
    " very_late",
    "info": "info notice",
    "idle": "pending waiting delayed standby idle stopped paused free unavailable unknown removed"
    " none",
}
TONE_OF = {word: tone for tone, words in TONES.items() for word in words.split()}


def tone(word: str) -> str:
    """The tone of a state word; a word nobody knows is shown plainly."""
    return TONE_OF.get(word.lower().replace(" ", "_"), "idle")
