"""Pages by key: the last page of a million rows costs as much as the first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connections
from django.db.models import QuerySet

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
