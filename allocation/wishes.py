"""Refuse what cannot be asked of an instance before a transaction opens."""

from allocation.errors import InvalidWish
from allocation.logic.wishes import refusal


def check_wishes(**wishes: object) -> None:
    why = refusal(wishes)
    if why is not None:
        raise InvalidWish(why)
