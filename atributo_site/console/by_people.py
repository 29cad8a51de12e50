"""Events by people: few among many that no index tells apart, so a page looks only so far."""

from dataclasses import replace

from django.db.models import QuerySet

from allocation.models import Event
from atributo_site.keyset import KeysetPage, page_by_key

LOOKED_THROUGH = 50_000  # events for one page; the next one goes on from there
DOORS = (Event.Channel.BROWSER, Event.Channel.REST, Event.Channel.COMMAND)


def page_by_people(rows: QuerySet, *, after: str, before: str, size: int) -> KeysetPage:
    """Where a page ends because it has looked far enough, its link leads on all the same."""
    backwards = bool(before) and not after
    edge = _edge(rows, after or before, backwards)
    near = rows.filter(channel__in=DOORS)
    if edge is not None:
        near = near.filter(**{f"pk__{'lt' if backwards else 'gt'}": edge})
    page = page_by_key(near, after=after, before=before, size=size)
    if edge is None:
        return page
    if backwards:
        return replace(page, before=page.before or str(edge - 1))
    return replace(page, after=page.after or str(edge + 1))


def _edge(rows: QuerySet, start: str, backwards: bool) -> int | None:
    """The first key that is too far away; None if the end is nearer."""
    if start.isascii() and start.isdigit() and len(start) < 20:
        rows = rows.filter(**{f"pk__{'gt' if backwards else 'lt'}": int(start)})
    keys = rows.order_by("pk" if backwards else "-pk").values_list("pk", flat=True)
    return next(iter(keys[LOOKED_THROUGH : LOOKED_THROUGH + 1]), None)
