"""Find the lines of a journal that cannot be trusted, since nothing may be restored by them."""

import json
from typing import Any, NamedTuple, NoReturn

ACTIONS = ("put", "delete")
NO_VERSION = -1  # a version that there is not; None is one that no transaction wrote


class Evidence(NamedTuple):
    """What a line of the journal says, and what its document and the history say about it.

    `wrote_...` are the transactions that wrote the versions which the line names.
    """

    transaction: int
    action: Any
    before_present: Any
    before_ref: Any
    before_value: str | bytes | None  # as it is stored
    expected_ref: Any
    document: int | None
    document_ref: str | None
    wrote_before: int | None
    wrote_expected: int | None
    wrote_present: int | None
    is_first: bool  # of its key; another one follows what somebody else wrote


def damage(line: Evidence) -> str:
    """Return why nothing can be restored by this line, or an empty text if all is well."""
    if line.document is None:
        return "it points to no document"
    if line.action not in ACTIONS or line.before_present not in (True, False):
        return "it cannot be read"
    return _of_refs(line) or _of_value(line)


def _of_refs(line: Evidence) -> str:
    if not line.expected_ref:
        return "it does not name the version that was written"
    if line.before_present and not line.before_ref:
        return "it does not name the version that was there before"
    if line.wrote_expected not in (line.transaction, NO_VERSION):
        return "it names a version that another transaction wrote"
    if line.wrote_before == line.transaction:
        return "a line before it is missing"
    if line.before_present and not line.is_first and line.wrote_before == NO_VERSION:
        return "it names a version before that is not in the history"
    if line.wrote_present == line.transaction and line.document_ref != line.expected_ref:
        return "it does not name the version that stands"
    return ""


def _of_value(line: Evidence) -> str:
    if not line.before_present:
        return "" if line.before_value is None else "it has a value of a key that was not there"
    if line.before_value is None:
        return "the value that was there before is missing"
    return "" if is_json(line.before_value) else "the value that was there before is not JSON"


def is_json(stored: str | bytes) -> bool:
    try:
        text = stored.decode() if isinstance(stored, bytes) else stored
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"JSON has no {constant}")
