"""Refuse what cannot be an id before a transaction opens."""

from collections.abc import Iterable

from allocation.errors import InvalidId
from allocation.logic.ids import refusal


def valid_id(value: str) -> str:
    why = refusal(value)
    if why is not None:
        raise InvalidId(why)
    return value


def valid_ids(values: Iterable[str]) -> list[str]:
    """Each once, in the order they came."""
    if isinstance(values, str):
        raise InvalidId("a list of ids is wanted, not one text")
    return list(dict.fromkeys(valid_id(value) for value in values))
