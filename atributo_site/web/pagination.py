"""Cut lists into pages by key: the last page of a million rows costs as much as the first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connections
from django.db.models import Q, QuerySet

LARGEST = 2**63 - 1  # the largest key; ids of a large cluster have as many digits
MOST_DIGITS = len(str(LARGEST))  # Python refuses to read thousands of them
MOST_COUNTED = 10_000
NO_KEY = -1


def whole(text: str) -> int | None:
    """Read a whole number from an address or hidden field; None for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_number and int(text) <= LARGEST else None


@dataclass(frozen=True)
class KeysetPage:
    """Rows in the order of display, and the keys of the pages around them."""

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
    """Return the rows after the key `after`, or before `before`, else the first ones.

    `narrowed` is applied last, for conditions that make a union. `keys_first` reads the keys by an
    index alone, where PostgreSQL would read all rows along the key until some match.
    """
    after_key, before_key = _key(rows, after), _key(rows, before)
    backwards = after_key is None and before_key is not None
    if after_key is not None:
        rows = rows.filter(**{f"pk__{'lt' if descending else 'gt'}": after_key})
    elif before_key is not None:
        rows = rows.filter(**{f"pk__{'gt' if descending else 'lt'}": before_key})
    ordered = narrowed(rows).order_by("-pk" if descending != backwards else "pk")[: size + 1]
    read = _by_their_keys(rows, ordered) if keys_first else list(ordered)
    return _page(read, size, backwards, has_start=after_key is not None)


def newest_by_key(rows: QuerySet, most: int) -> list[Any]:
    """Return the newest rows of many, reading their keys first."""
    return _by_their_keys(rows, rows.order_by("-pk")[:most])


def _by_their_keys(rows: QuerySet, ordered: QuerySet) -> list[Any]:
    """Read the rows of these keys, also of none, so that a page always takes as many queries."""
    keys = list(ordered.values_list("pk", flat=True))
    known = rows.in_bulk(keys or [NO_KEY])
    return [known[key] for key in keys if key in known]


def capped_count(rows: QuerySet, *, by_key: bool = False) -> int:
    """Count the rows, but no further than one more than MOST_COUNTED.

    `by_key` makes PostgreSQL use an index in the order of the key. Otherwise it expects enough
    rows in the first part of the table, which holds the old ones.
    """
    held = by_key and connections[rows.db].vendor == "postgresql"
    ordered = rows.order_by("-pk") if held else rows.order_by()
    return ordered[: MOST_COUNTED + 1].count()


def format_count(count: int) -> str:
    return f"{MOST_COUNTED:,}+" if count > MOST_COUNTED else f"{count:,}"


def _key(rows: QuerySet, text: str) -> Any:
    if not text or "\x00" in text:
        return None
    try:
        return rows.model._meta.pk.to_python(text)
    except ValidationError:  # a key that no row can have: start from the first page
        return None


def page_in_order(
    rows: QuerySet, column: str, *, after: str = "", before: str = "", size: int = 50
) -> KeysetPage:
    """Return a page in the order of a column (-column for descending), then of the key."""
    descending, name = column.startswith("-"), column.removeprefix("-")
    follows = _row(rows, after)
    precedes = None if follows else _row(rows, before)
    start, backwards = follows or precedes, precedes is not None
    if start is not None:
        rows = rows.filter(_beyond(name, start, descending != backwards))
    sign = "-" if descending != backwards else ""
    read = list(rows.order_by(f"{sign}{name}", f"{sign}pk")[: size + 1])
    return _page(read, size, backwards, has_start=start is not None)


def _page(read: list[Any], size: int, backwards: bool, has_start: bool) -> KeysetPage:
    """Cut off the row that tells whether there are more, and name the keys at both ends."""
    rows = read[:size][::-1] if backwards else read[:size]
    more = len(read) > size
    has_before = more if backwards else has_start
    return KeysetPage(
        rows,
        before=str(rows[0].pk) if rows and has_before else None,
        after=str(rows[-1].pk) if rows and (more or backwards) else None,
    )


def _row(rows: QuerySet, text: str) -> Any:
    """Return the row to go on from, also if it has left the list meanwhile."""
    key = whole(text)
    return None if key is None else rows.model._default_manager.filter(pk=key).first()


def _beyond(name: str, start: Any, descending: bool) -> Q:
    """Select the rows beyond `start`; an index can use the outer condition."""
    value, way = getattr(start, name), "lt" if descending else "gt"
    if value is None:
        return Q()
    further = Q(**{f"{name}__{way}": value}) | Q(**{f"pk__{way}": start.pk})
    return Q(**{f"{name}__{way}e": value}) & further
