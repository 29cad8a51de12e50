"""Check keys and refs, and what a caller demands of a key before it is written."""

import secrets
from typing import Any, NamedTuple

from allocation.transactions.errors import InvalidDocument
from allocation.transactions.logic.json_value import BadName, NotJson, checked_name, encoded
from allocation.transactions.store import sql


class Key(NamedTuple):
    collection: str
    key: str

    @classmethod
    def of(cls, collection: Any, key: Any) -> "Key":
        return cls(checked_text(collection, "collection"), checked_text(key, "key"))


class Demand(NamedTuple):
    """What must be true of the key, as SQL and as its parameter."""

    condition: str
    if_ref: str = ""

    @classmethod
    def of(cls, ref: str | bool | None, *, otherwise: str = sql.ANYTHING) -> "Demand":
        """Read a ref: a text must match, False means "create only", None means anything."""
        if ref is False:
            return cls(sql.ABSENT)
        known = checked_ref(ref)
        return cls(otherwise) if known is None else cls(sql.SAME_REF, known)


def checked_ref(ref: Any) -> str | None:
    """Return the ref, or None if any will do. Only a put can be "create only"."""
    if ref is None or ref == "":
        return None
    if not isinstance(ref, str):
        raise InvalidDocument(f"a ref is a text or None, not {ref!r}")
    return checked_text(ref, "ref")


def new_key() -> str:
    return secrets.token_hex(8)


def checked_collection(collection: Any) -> str:
    return checked_text(collection, "collection")


def checked_text(name: Any, what: str) -> str:
    try:
        return checked_name(name, what)
    except BadName as error:
        raise InvalidDocument(str(error)) from error


def checked_json(value: Any) -> str:
    try:
        return encoded(value)
    except NotJson as error:
        raise InvalidDocument(str(error)) from error
