"""What may be stored as a document: JSON that both databases give back as it was."""

import json
import math
from typing import Any

MAX_DEPTH = 32
MAX_DIGITS = 40


class NotJson(ValueError):
    """The value cannot be stored; the text says where and why."""


def encoded(value: Any) -> str:
    """The value as JSON text, after it has been checked."""
    check(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check(value: Any, path: str = "$", depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise NotJson(f"{path} is deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, dict):
        for name, member in value.items():
            _check_name(name, path)
            check(member, f"{path}.{name}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            check(member, f"{path}[{index}]", depth + 1)
    else:
        _check_scalar(value, path)


def _check_scalar(value: Any, path: str) -> None:
    if value is None or isinstance(value, bool):
        return
    if not isinstance(value, int | float):
        raise NotJson(f"{path} is a {type(value).__name__}, which JSON does not have")
    if isinstance(value, float) and not math.isfinite(value):
        raise NotJson(f"{path} is {value}, which JSON does not have")
    if abs(value) >= 10**MAX_DIGITS:  # PostgreSQL gives a large float back as an integer
        raise NotJson(f"{path} has more than {MAX_DIGITS} digits")


def _check_name(name: Any, path: str) -> None:
    if not isinstance(name, str):
        raise NotJson(f"{path} has the member {name!r}, which is not a text")
    _check_text(name, f"{path}.{name!r}")


def _check_text(text: str, path: str) -> None:
    if "\x00" in text:
        raise NotJson(f"{path} contains the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NotJson(f"{path} contains half of a surrogate pair") from error
