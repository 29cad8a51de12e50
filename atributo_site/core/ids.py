"""Check which texts may name a job or an instance, before a transaction opens."""

import re
from collections.abc import Iterable

from atributo_site.core.errors import InvalidId

LONGEST = 255
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def refusal(value: object) -> str | None:
    """Say why this value cannot be an id; None when it can."""
    if not isinstance(value, str):
        return f"an id is text, not {type(value).__name__}"
    if not 1 <= len(value) <= LONGEST:
        return f"an id has 1 to {LONGEST} characters, not {len(value)}"
    if FORBIDDEN.search(value):
        return "an id has no control characters"
    return None


def valid_id(value: str) -> str:
    why = refusal(value)
    if why is not None:
        raise InvalidId(why)
    return value


def valid_ids(values: Iterable[str]) -> list[str]:
    """Return each id once, in the order they came."""
    if isinstance(values, str):
        raise InvalidId("a list of ids is wanted, not one text")
    return list(dict.fromkeys(valid_id(value) for value in values))
