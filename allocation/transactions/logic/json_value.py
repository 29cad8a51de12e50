"""Check values and names: JSON and texts that both databases return as they were."""

import json
import math
from typing import Any

MAX_DEPTH = 32
MAX_DIGITS = 40
MAX_LENGTH = 255


class NotJson(ValueError):
    """The value cannot be stored; the text says where and why."""


def encoded(value: Any) -> str:
    """Check the value and return it as JSON text."""
    check(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check(value: Any) -> None:
    _check(value, None, 0)


# A place is the one around it and the name or number in there. It becomes a text only for an
# error, since long names would be copied again for everything below them.
Place = tuple["Place", str | int] | None


def _check(value: Any, place: Place, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise NotJson(f"{_path(place)} is deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        _check_text(value, place)
    elif isinstance(value, dict):
        for name, member in value.items():
            _check_name(name, place)
            _check(member, (place, name), depth + 1)
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            _check(member, (place, index), depth + 1)
    else:
        _check_scalar(value, place)


def _check_scalar(value: Any, place: Place) -> None:
    if value is None or isinstance(value, bool):
        return
    if not isinstance(value, int | float):
        raise NotJson(f"{_path(place)} is a {type(value).__name__}, which JSON does not have")
    if isinstance(value, float) and not math.isfinite(value):
        raise NotJson(f"{_path(place)} is {value}, which JSON does not have")
    if abs(value) >= 10**MAX_DIGITS:  # PostgreSQL gives a large float back as an integer
        raise NotJson(f"{_path(place)} has more than {MAX_DIGITS} digits")


def _check_name(name: Any, place: Place) -> None:
    if not isinstance(name, str):
        raise NotJson(f"{_path(place)} has the member {name!r}, which is not a text")
    _check_text(name, (place, repr(name)))


def _check_text(text: str, place: Place) -> None:
    if "\x00" in text:
        raise NotJson(f"{_path(place)} contains the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NotJson(f"{_path(place)} contains half of a surrogate pair") from error


def _path(place: Place) -> str:
    """Return the place as text: `$.tags[2].name`, and `$` for the whole value."""
    steps = []
    while place is not None:
        place, step = place
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "".join(["$", *reversed(steps)])


class BadName(ValueError):
    """A name that cannot be used; the text says why."""


def checked_name(name: object, what: str) -> str:
    """Return the name if it can be stored and printed."""
    if not isinstance(name, str):
        raise BadName(f"the {what} must be a text, not {type(name).__name__}")
    if not name:
        raise BadName(f"the {what} must not be empty")
    if len(name) > MAX_LENGTH:
        raise BadName(f"the {what} must have at most {MAX_LENGTH} characters")
    if any(ord(character) < 32 or 0xD800 <= ord(character) < 0xE000 for character in name):
        raise BadName(f"the {what} must not contain control characters")
    return name
