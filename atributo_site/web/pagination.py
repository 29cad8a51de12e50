"""Pages by key: the last page of a million rows costs as much as the first.

Whole numbers as addresses and hidden fields carry them.

Pages in the order of any column; the key of a row is enough to go on from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connections
from django.db.models import Q, QuerySet

LARGEST = 2**63 - 1  # of any key; ids of a large cluster have as many digits
MOST_DIGITS = len(str(LARGEST))  # Python itself refuses to read thousands of them


def whole(text: str) -> int | None:
    """None for whatever else somebody typed."""
    is_number = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_number and int(text) <= LARGEST else None


MOST_COUNTED = 10_000
NO_KEY = -1


@dataclass(frozen=True)
class KeysetPage:
    """Rows in the order of display, and the keys that lead to the pages around them."""

    rows: list[Any]
    before: str | None
    after: str | None


def page_by_key(
    rows: QuerySet,
    narrowed: Callable[[Any], QuerySet] = lambda rows: rows,
    /,
    *,
    after: str = "",
    before: str = "",
    size: int = 50,
    descending: bool = True,
    keys_first: bool = False,
) -> KeysetPage:
    """The rows that follow the key `after`, or the ones in front of `before`, else the first.

    `narrowed` is the last condition, for what makes a union of them. `keys_first` asks for the
    keys by an index alone: PostgreSQL would rather read all rows along the key until some match.
    """
    after_key, before_key = _key(rows, after), _key(rows, before)
    backwards = after_key is None and before_key is not None
    if after_key is not None:
        rows = rows.filter(**{f"pk__{'lt' if descending else 'gt'}": after_key})
    elif before_key is not None:
        rows = rows.filter(**{f"pk__{'gt' if descending else 'lt'}": before_key})
    ordered = narrowed(rows).order_by("-pk" if descending != backwards else "pk")[: size + 1]
    found = _by_their_keys(rows, ordered) if keys_first else list(ordered)
    shown = found[:size][::-1] if backwards else found[:size]
    more = len(found) > size
    return KeysetPage(
        shown,
        before=_end(shown, 0) if (more if backwards else after_key is not None) else None,
        after=_end(shown, -1) if (more or backwards) else None,
    )


def newest_by_key(rows: QuerySet, most: int) -> list[Any]:
    """A few rows of many, the keys first."""
    return _by_their_keys(rows, rows.order_by("-pk")[:most])


def _by_their_keys(rows: QuerySet, ordered: QuerySet) -> list[Any]:
    """Asks for no rows, too, so that a page is always as many queries."""
    keys = list(ordered.values_list("pk", flat=True))
    known = rows.in_bulk(keys or [NO_KEY])
    return [known[key] for key in keys if key in known]


def capped_count(rows: QuerySet, *, by_key: bool = False) -> int:
    """How many rows, or one more than MOST_COUNTED: counting stops there.

    `by_key` holds PostgreSQL to an index in the order of the key, where it would guess that
    enough rows stand in the first part of the table, which holds the old ones.
    """
    held = by_key and connections[rows.db].vendor == "postgresql"
    ordered = rows.order_by("-pk") if held else rows.order_by()
    return ordered[: MOST_COUNTED + 1].count()


def said_count(count: int) -> str:
    return f"{MOST_COUNTED:,}+" if count > MOST_COUNTED else f"{count:,}"


def _key(rows: QuerySet, text: str) -> Any:
    if not text or "\x00" in text:
        return None
    try:
        return rows.model._meta.pk.to_python(text)
    except ValidationError:  # a key that no row can have: start from the first page
        return None


def _end(rows: list[Any], index: int) -> str | None:
    return str(rows[index].pk) if rows else None


def page_in_order(
    rows: QuerySet, column: str, *, after: str = "", before: str = "", size: int = 50
) -> KeysetPage:
    """`column` may begin with a minus; rows of the same value are told apart by their keys."""
    descending, name = column.startswith("-"), column.removeprefix("-")
    follows = _row(rows, after)
    precedes = None if follows else _row(rows, before)
    start, backwards = follows or precedes, precedes is not None
    if start is not None:
        rows = rows.filter(_beyond(name, start, descending != backwards))
    sign = "-" if descending != backwards else ""
    found = list(rows.order_by(f"{sign}{name}", f"{sign}pk")[: size + 1])
    shown = found[:size][::-1] if backwards else found[:size]
    more = len(found) > size
    has_before = more if backwards else start is not None
    return KeysetPage(
        shown,
        before=_end(shown, 0) if has_before else None,
        after=_end(shown, -1) if (more or backwards) else None,
    )


def _row(rows: QuerySet, text: str) -> Any:
    """The row to go on from; it may have left the list meanwhile, its place remains."""
    key = whole(text)
    return None if key is None else rows.model._default_manager.filter(pk=key).first()


def _beyond(name: str, start: Any, descending: bool) -> Q:
    """The outer condition is what an index can use."""
    value, way = getattr(start, name), "lt" if descending else "gt"
    if value is None:
        return Q()
    further = Q(**{f"{name}__{way}": value}) | Q(**{f"pk__{way}": start.pk})
    return Q(**{f"{name}__{way}e": value}) & further
