"""What must never be shown: values whose key looks like a secret."""

import re
from typing import Any

MASK = "•••"
SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|api_?key|private_?key|credential|authori[sz]ation|cookie",
    re.IGNORECASE,
)


def looks_secret(key: str) -> bool:
    return SECRET_KEY.search(key) is not None


def masked(value: Any) -> Any:
    """The same JSON value with every secret replaced, however deep."""
    if isinstance(value, dict):
        return {key: _member(str(key), member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item) for item in value]
    return value


def _member(key: str, value: Any) -> Any:
    return MASK if looks_secret(key) and value is not None else masked(value)
