"""Say a stored rule in words."""

from collections.abc import Mapping
from typing import Any

WEEKDAYS = {"mon": "Monday", "tue": "Tuesday", "wed": "Wednesday", "thu": "Thursday"} | {
    "fri": "Friday",
    "sat": "Saturday",
    "sun": "Sunday",
}
UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}


def rule_said(rule: Mapping[str, Any]) -> str:
    """Return "cron 0 9 * * *", "every 1h30m" or "Monday, last day at 09:00"."""
    if "cron" in rule:
        return f"cron {rule['cron']}"
    if "every" in rule:
        return f"every {_span(rule['every'])}"
    if "calendar" in rule:
        return _calendar(rule["calendar"])
    count = len(rule.get("moments", []))
    return f"at {count} {'moment' if count == 1 else 'moments'}"


def _calendar(calendar: Mapping[str, Any]) -> str:
    weekdays = [
        WEEKDAYS.get(str(each)[:3].lower(), str(each)) for each in _of(calendar, "weekdays")
    ]
    days = ["last day" if each == "last" else f"day {each}" for each in _of(calendar, "days")]
    return f"{', '.join([*weekdays, *days]) or 'every day'} at {', '.join(_of(calendar, 'times'))}"


def _of(calendar: Mapping[str, Any], name: str) -> list[Any]:
    return calendar.get(name) or []


def _span(milliseconds: int) -> str:
    parts, left = [], milliseconds
    for unit, size in UNITS.items():
        count, left = divmod(left, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0"
