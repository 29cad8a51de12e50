"""Read new events so that none is missed, whatever the order of commits."""

from typing import Any

from django.db import connections
from django.db.models import BooleanField, F, Field, Func, Max, Q, QuerySet, TextField, Value

from allocation.logic.marks import Mark, oldest_open
from allocation.models import Event


def newest_mark(using: str = "default") -> Mark:
    """All that is committed counts as read."""
    if connections[using].vendor != "postgresql":
        return Mark(str(Event.objects.using(using).aggregate(last=Max("id"))["last"] or 0))
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        return Mark(cursor.fetchone()[0])


def events_after(mark: Mark, limit: int, using: str = "default") -> tuple[list[Event], Mark]:
    """At most `limit` events that the mark has not seen, and the mark that has seen them."""
    if connections[using].vendor != "postgresql":
        return _by_id(mark, limit, using)
    return _by_snapshot(mark, limit, using)


def _by_id(mark: Mark, limit: int, using: str) -> tuple[list[Event], Mark]:
    events = list(Event.objects.using(using).filter(id__gt=int(mark.seen)).order_by("id")[:limit])
    return events, Mark(str(events[-1].pk)) if events else mark


def _by_snapshot(mark: Mark, limit: int, using: str) -> tuple[list[Event], Mark]:
    """Whose transaction the last snapshot did not see and this one does."""
    unseen = Event.objects.using(using).filter(
        ~Q(_visible_in(mark.seen)), writer__gte=oldest_open(mark.seen)
    )
    rows = list(_rest_of(unseen, mark).annotate(snapshot=CURRENT).order_by("writer", "id")[:limit])
    return sorted(rows, key=lambda event: event.pk), _next(mark, rows, is_full=len(rows) == limit)


def _rest_of(unseen: QuerySet[Event], mark: Mark) -> QuerySet[Event]:
    """What a reading that did not fit into one page has left."""
    if not mark.reading:
        return unseen
    writer, last = mark.after
    later = Q(writer__gt=writer) | Q(writer=writer, id__gt=last)
    return unseen.filter(later, Q(_visible_in(mark.reading)), writer__gte=writer)


def _next(mark: Mark, rows: list[Any], *, is_full: bool) -> Mark:
    reading = mark.reading or (rows[0].snapshot if rows else mark.seen)
    if is_full:
        return Mark(mark.seen, reading, (rows[-1].writer, rows[-1].pk))
    return Mark(reading)


def _cast(expression: F | Value, to: str) -> Func:
    return Func(expression, template=f"(%(expressions)s)::text::{to}", output_field=Field())


def _visible_in(snapshot: str) -> Func:
    return Func(
        _cast(F("writer"), "xid8"),
        _cast(Value(snapshot), "pg_snapshot"),
        function="pg_visible_in_snapshot",
        output_field=BooleanField(),
    )


# Of the statement that it stands in, so that it goes with the rows that this one sees.
CURRENT = Func(template="pg_current_snapshot()::text", output_field=TextField())
