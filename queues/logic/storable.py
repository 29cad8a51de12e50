"""What both databases can store."""

import json
from typing import Any

DEEPEST = 100  # pages and REST walk a value level by level


def is_storable(text: str) -> bool:
    """Return whether a text has no NUL character and no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def json_refusal(value: Any) -> str | None:
    """Return why a value cannot be stored as JSON, or None."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return "it contains the NUL character" if has_nul(text) else None


def has_nul(json_text: str) -> bool:
    """Return whether JSON holds the NUL character; an escaped backslash before u0000 is none."""
    return "\\u0000" in json_text.replace("\\\\", "")


def is_too_deep(value: Any, json_text: str) -> bool:
    """Return whether lists and objects are nested deeper than can be shown."""
    return json_text.count("[") + json_text.count("{") > DEEPEST and _nests(value)


def _nests(value: Any) -> bool:
    layer = [value]
    for _ in range(DEEPEST + 1):
        layer = [member for each in layer for member in _members(each)]
    return bool(layer)


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []
