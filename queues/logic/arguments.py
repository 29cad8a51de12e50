"""A script's arguments: the same however it is invoked."""

from typing import Any


def argv(data: Any) -> list[Any]:
    """A list is spread, nothing is no argument, anything else is the one argument."""
    if data is None:
        return []
    return list(data) if isinstance(data, list | tuple) else [data]
