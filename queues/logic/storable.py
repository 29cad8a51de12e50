"""What every database that we know can store."""

import json
from typing import Any


def is_storable(text: str) -> bool:
    """No NUL character and no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def json_refusal(value: Any) -> str | None:
    """Why a value cannot be stored as JSON, or None."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return "it contains the NUL character" if has_nul(text) else None


def has_nul(json_text: str) -> bool:
    """Whether a text of JSON holds the character; a backslash followed by u0000 is none."""
    return "\\u0000" in json_text.replace("\\\\", "")
