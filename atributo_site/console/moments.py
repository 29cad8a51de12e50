"""Moments as people type them: a date, a time, or an age such as 90m or 2d."""

import re
from datetime import UTC, datetime, timedelta

AGE = re.compile(r"(\d{1,6})\s*(s|m|h|d|w)")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class BadMoment(ValueError):
    """A text that names no moment."""


def moment(text: str, now: datetime) -> datetime | None:
    """None for an empty text; times without a zone are UTC."""
    text = text.strip()
    if not text:
        return None
    age = AGE.fullmatch(text)
    try:
        return now - _span(age) if age else absolute(text)
    except (ValueError, OverflowError) as error:
        raise BadMoment(f"«{text}» is neither a time nor an age such as 90m, 2h or 7d") from error


def _span(age: re.Match[str]) -> timedelta:
    return timedelta(seconds=int(age[1]) * SECONDS[age[2]])


def absolute(text: str) -> datetime:
    """ValueError or OverflowError for what is none; without a zone it is UTC."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
