"""Pages in the order of any column; the key of a row is enough to go on from it."""

from typing import Any

from django.db.models import Q, QuerySet

from atributo_site.console.numbers import whole
from atributo_site.keyset import KeysetPage


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


def _end(rows: list[Any], index: int) -> str | None:
    return str(rows[index].pk) if rows else None
