"""Read new events so that none is missed, whatever the order of commits.

A cursor says up to where a reader knows the events; a client hands its text back.

SQLite commits in the order of ids, so its cursor is the last id: `i42`. PostgreSQL does not, so its
cursor is the snapshot of the reading: `s10:20:12,15` says that every transaction below 20 has been
read except 12 and 15, which were still open.

These numbers mean something in one database only, so a cursor also says where they come from:
`s7709296587285868736.10:20:` names the cluster that counts the transactions, and
`i42.1790000000000000` the moment of event 42 in microseconds.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connections
from django.db.models import BooleanField, F, Field, Func, Max, Q, TextField, Value

from atributo_site.core.models import Event
from atributo_site.core.retry import retry_busy

ID = re.compile(r"i(?P<seen>\d{1,18})(?:\.(?P<origin>[1-9]\d{0,18}))?", re.ASCII)
SNAPSHOT = re.compile(
    r"s(?:(?P<origin>-?[1-9]\d{0,18})\.)?(?P<seen>\d{1,18}:\d{1,18}:(?:\d{1,18}(?:,\d{1,18})*)?)",
    re.ASCII,
)
LONGEST = 8000  # characters
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The snapshot of this very statement, so that it belongs to the rows that it sees.
CURRENT = Func(template="pg_current_snapshot()::text", output_field=TextField())


@dataclass(frozen=True)
class EventCursor:
    """`seen` is read. Within `reading`, what comes up to `after` is read as well."""

    seen: str
    reading: str = ""
    after: tuple[int, int] = (0, 0)
    origin: int = 0  # not known

    def __str__(self) -> str:
        """Return the text to resume from; inside a reading that is its start."""
        if ":" in self.seen:
            return f"s{self.origin}.{self.seen}" if self.origin else f"s{self.seen}"
        return f"i{self.seen}.{self.origin}" if self.origin else f"i{self.seen}"


def parsed(text: str) -> EventCursor | None:
    """Return the cursor of a text, or None for any other text."""
    if len(text) > LONGEST:
        return None
    parts = ID.fullmatch(text) or SNAPSHOT.fullmatch(text)
    if parts is None or not _is_ordered(parts["seen"]):
        return None
    return EventCursor(parts["seen"], origin=int(parts["origin"] or 0))


def oldest_open(snapshot: str) -> int:
    """Return the number below which every transaction is over."""
    return int(snapshot.partition(":")[0])


def is_of_the_past(cursor: EventCursor, newest: EventCursor) -> bool:
    """Return False for a cursor of the other database, or one from before a restored backup."""
    if (":" in cursor.seen) != (":" in newest.seen):
        return False
    return _end(cursor.seen) <= _end(newest.seen)


def _end(seen: str) -> int:
    return int(seen.split(":")[1] if ":" in seen else seen)


def _is_ordered(seen: str) -> bool:
    """Check the order of open transactions: PostgreSQL refuses a snapshot without it."""
    if ":" not in seen:
        return True
    start, end, listed = seen.split(":")
    open_ones = [int(number) for number in listed.split(",") if number]
    inside = all(int(start) <= number < int(end) for number in open_ones)
    return 0 < int(start) <= int(end) and inside and open_ones == sorted(set(open_ones))


def newest_cursor(using: str = "default") -> EventCursor:
    """Return a cursor for which everything committed counts as read."""
    if connections[using].vendor != "postgresql":
        return _at(Event.objects.using(using).order_by("-id").first())
    snapshot, cluster = retry_busy(lambda: _here(using), using, repeatable=True)
    return EventCursor(snapshot, origin=cluster)


def events_after(
    cursor: EventCursor, limit: int, using: str = "default"
) -> tuple[list[Event], EventCursor]:
    """Return at most `limit` events that the cursor has not seen, and the cursor after them."""
    if connections[using].vendor != "postgresql":
        return _by_id(cursor, limit, using)
    snapshot, cluster = retry_busy(lambda: _here(using), using, repeatable=True)
    if cursor.origin != cluster:
        return _over_a_restore(cursor, cursor.reading or snapshot, cluster, limit, using)
    return _by_snapshot(cursor, limit, using)


def may_resume(cursor: EventCursor, newest: EventCursor, using: str = "default") -> bool:
    """Return False for a cursor whose numbers say nothing about the events here."""
    events = Event.objects.using(using)
    if ":" in cursor.seen and ":" in newest.seen and cursor.origin != newest.origin:
        return events.filter(cluster=cursor.origin).exists()
    if not is_of_the_past(cursor, newest):
        return False
    if ":" in cursor.seen or not cursor.origin:
        return True
    return _at(events.filter(pk=int(cursor.seen)).first()) == cursor


def _by_id(cursor: EventCursor, limit: int, using: str) -> tuple[list[Event], EventCursor]:
    events = list(Event.objects.using(using).filter(id__gt=int(cursor.seen)).order_by("id")[:limit])
    return events, _at(events[-1]) if events else cursor


def _at(event: Event | None) -> EventCursor:
    """Use the moment as well: after an older file is restored ids repeat, moments do not."""
    if event is None:
        return EventCursor("0")
    return EventCursor(str(event.pk), origin=(event.at - EPOCH) // timedelta(microseconds=1))


def _by_snapshot(cursor: EventCursor, limit: int, using: str) -> tuple[list[Event], EventCursor]:
    """Return events whose transaction the last snapshot did not see and this one does."""
    unseen = Event.objects.using(using).filter(_unseen(cursor) & _rest_of(cursor))
    rows = list(unseen.annotate(snapshot=CURRENT).order_by("writer", "id")[:limit])
    return sorted(rows, key=lambda event: event.pk), _next(cursor, rows, is_full=len(rows) == limit)


def _unseen(cursor: EventCursor) -> Q:
    later = Q(cluster=cursor.origin, writer__gte=oldest_open(cursor.seen))
    return later & ~Q(_visible_in(cursor.seen))


def _rest_of(cursor: EventCursor) -> Q:
    """Return the part of a reading that did not fit into one page."""
    if not cursor.reading:
        return Q()
    writer, last = cursor.after
    later = Q(writer__gt=writer) | Q(writer=writer, id__gt=last)
    return later & Q(_visible_in(cursor.reading)) & Q(writer__gte=writer)


def _next(cursor: EventCursor, rows: list[Any], *, is_full: bool) -> EventCursor:
    reading = cursor.reading or (rows[0].snapshot if rows else cursor.seen)
    if is_full:
        return EventCursor(cursor.seen, reading, (rows[-1].writer, rows[-1].pk), cursor.origin)
    return EventCursor(reading, origin=cursor.origin)


def _over_a_restore(
    cursor: EventCursor, reading: str, cluster: int, limit: int, using: str
) -> tuple[list[Event], EventCursor]:
    """Read on after a restored backup: what the cursor has not seen there, and all that came here.

    Numbers of transactions of one cluster say nothing in another one, but ids go on.
    """
    events = Event.objects.using(using)
    last = events.filter(cluster=cursor.origin).aggregate(last=Max("id"))["last"] or 0
    elsewhere = Q(id__gt=last) & ~Q(cluster__in=[cursor.origin, cluster])
    here = Q(id__gt=last, cluster=cluster) & Q(_visible_in(reading))
    unseen = events.filter(_unseen(cursor) | elsewhere | here, id__gt=cursor.after[1])
    rows = list(unseen.order_by("id")[:limit])
    if len(rows) == limit:
        return rows, EventCursor(cursor.seen, reading, (0, rows[-1].pk), cursor.origin)
    return rows, EventCursor(reading, origin=cluster)


def _here(using: str) -> tuple[str, int]:
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT pg_current_snapshot()::text, (pg_control_system()).system_identifier"
        )
        return cursor.fetchone()


def _cast(expression: F | Value, to: str) -> Func:
    return Func(expression, template=f"(%(expressions)s)::text::{to}", output_field=Field())


def _visible_in(snapshot: str) -> Func:
    return Func(
        _cast(F("writer"), "xid8"),
        _cast(Value(snapshot), "pg_snapshot"),
        function="pg_visible_in_snapshot",
        output_field=BooleanField(),
    )
