"""A key of a collection, and what a caller demands of it before it is written."""

import secrets
from typing import Any, NamedTuple

from allocation.logic.json_value import NotJson, encoded
from allocation.logic.names import BadName, checked_name
from allocation.transactions import sql
from allocation.transactions.errors import InvalidDocument


class Key(NamedTuple):
    collection: str
    key: str

    @classmethod
    def of(cls, collection: Any, key: Any) -> "Key":
        try:
            return cls(checked_name(collection, "collection"), checked_name(key, "key"))
        except BadName as error:
            raise InvalidDocument(str(error)) from error


class Demand(NamedTuple):
    """What must be true of the key, as SQL and as its parameter."""

    condition: str
    if_ref: str = ""

    @classmethod
    def of(cls, ref: str | bool | None, *, otherwise: str = sql.ANYTHING) -> "Demand":
        """A text is a ref that must match, False means «create only», None means anything."""
        if ref is False:
            return cls(sql.ABSENT)
        if not ref:
            return cls(otherwise)
        if not isinstance(ref, str):
            raise InvalidDocument(f"a ref is a text, False or None, not {ref!r}")
        return cls(sql.SAME_REF, ref)


def new_key() -> str:
    return secrets.token_hex(8)


def checked_collection(collection: Any) -> str:
    try:
        return checked_name(collection, "collection")
    except BadName as error:
        raise InvalidDocument(str(error)) from error


def checked_json(value: Any) -> str:
    try:
        return encoded(value)
    except NotJson as error:
        raise InvalidDocument(str(error)) from error
