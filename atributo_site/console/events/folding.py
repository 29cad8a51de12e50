"""Fold routine events into rows: steps of a drain, repairs or failed rollbacks are one row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import groupby

from django.db.models import QuerySet

from atributo_site.console.events.severity import of_severity
from atributo_site.core.models import Event
from atributo_site.core.text import pluralize
from atributo_site.web.pagination import KeysetPage, page_by_key, whole

LOOKED_THROUGH = 50_000  # events for one page; the next page goes on from there
CHANNELS_OF_PEOPLE = (Event.Channel.BROWSER, Event.Channel.REST, Event.Channel.COMMAND)
IN_STEPS = "instance.jobs_moved"
REPAIRED = "curator.repaired"
STUCK = "transaction.stuck"
ROUTINE = (IN_STEPS, REPAIRED, STUCK)
RECENT = 200  # events among which the routine is folded
READ_FOR_A_PAGE = 1000  # events, of which many may become one row
MOST_READ = 500  # a long drain may leave a step for every second


@dataclass(frozen=True)
class Steps:
    """Events of one kind about one thing, newest first; templates show them like one event."""

    events: Sequence[Event]
    is_cut: bool = False  # older ones were not read

    pk = property(lambda self: self.events[0].pk)
    kind = property(lambda self: self.events[0].kind)
    subject = property(lambda self: self.events[0].subject)
    at = property(lambda self: self.events[0].at)
    actor = property(lambda self: self.events[0].actor)
    channel = property(lambda self: self.events[0].channel)

    @property
    def first_at(self) -> datetime:
        return self.events[-1].at

    @property
    def jobs(self) -> int:
        return sum(event.facts.get("count", 0) for event in self.events)

    @property
    def sentence(self) -> str:
        least = "at least " if self.is_cut else ""
        if self.kind == REPAIRED:
            sweeps = pluralize(len(self.events), "sweep")
            return f"{least}{pluralize(self.jobs, 'repair')} in {sweeps}"
        if self.kind == STUCK:
            number, error = self.subject.partition(":")[2], self.events[0].shown_facts.get("error")
            return f"The rollback of transaction {number} failed {len(self.events)} times: {error}"
        steps = pluralize(len(self.events), "step")
        return f"{least}{pluralize(self.jobs, 'key')} moved in {steps}"


def events_of(subject: str, most: int) -> list[Event | Steps]:
    """Return the newest events of one thing; two queries, since steps may hide all others."""
    about = Event.objects.about(subject).newest_first()
    newest = list(about[:MOST_READ])
    others = list(about.exclude(kind=IN_STEPS)[:most])
    cut_at = newest[-1].pk if len(newest) == MOST_READ else None
    steps = [event for event in newest if event.kind == IN_STEPS]
    rows: list[Event | Steps] = []
    in_order = sorted([*steps, *others], key=lambda event: -event.pk)
    for is_step, group in groupby(in_order, key=lambda event: event.kind == IN_STEPS):
        events = list(group)
        rows += [Steps(events, is_cut=events[-1].pk == cut_at)] if is_step else events
    return rows[:most]


def recent_events(most: int) -> list[Event | Steps]:
    return fold_events(Event.objects.newest_first()[:RECENT])[:most]


def fold_events(events: Iterable[Event]) -> list[Event | Steps]:
    """Fold routine events of a subject into one row until something else happens to it."""
    rows: list[list[Event]] = []
    last: dict[str, list[Event]] = {}
    for event in events:
        row = last.get(event.subject)
        if event.kind in ROUTINE and row and row[0].kind == event.kind:
            row.append(event)
        else:
            last[event.subject] = [event]
            rows.append(last[event.subject])
    return [Steps(row) if len(row) > 1 else row[0] for row in rows]


def every_event(rows: Iterable[Event | Steps]) -> list[Event]:
    """Return the events of the rows, also of folded ones."""
    return [event for row in rows for event in (row.events if isinstance(row, Steps) else [row])]


def folded(page: KeysetPage, size: int, backwards: bool) -> KeysetPage:
    """Fold a long page of events and keep as many rows as a page shows; the keys follow."""
    events = page.rows[::-1] if backwards else page.rows
    kept = _fill(events, size)
    if len(kept) == len(events):
        return replace(page, rows=fold_events(page.rows))
    if backwards:
        return replace(page, rows=fold_events(kept[::-1]), before=str(kept[-1].pk))
    return replace(page, rows=fold_events(kept), after=str(kept[-1].pk))


def _fill(events: Sequence[Event], size: int) -> Sequence[Event]:
    """Return as many of the first events as fold into `size` rows."""
    last: dict[str, str] = {}
    rows = 0
    for number, event in enumerate(events):
        rows += event.kind not in ROUTINE or last.get(event.subject) != event.kind
        if rows > size:
            return events[:number]
        last[event.subject] = event.kind
    return events


def page_by_people(
    rows: QuerySet, severity: str = "", *, after: str, before: str, size: int
) -> KeysetPage:
    """Return a page of events by people, which no index tells apart, reading only so far.

    A page that ends because it has read enough still links to the next one.
    """
    backwards = bool(before) and not after
    edge = _edge(rows, after or before, backwards)
    by_people = rows.filter(channel__in=CHANNELS_OF_PEOPLE)
    if edge is not None:
        by_people = by_people.filter(**{f"pk__{'lt' if backwards else 'gt'}": edge})
    narrowed = partial(of_severity, severity=severity)
    page = page_by_key(by_people, narrowed, after=after, before=before, size=size)
    if edge is None:
        return page
    if backwards:
        return replace(page, before=page.before or str(edge - 1))
    return replace(page, after=page.after or str(edge + 1))


def _edge(rows: QuerySet, start: str, backwards: bool) -> int | None:
    """Return the first key that is too far away; None if the rows end before."""
    key = whole(start)
    if key is not None:
        rows = rows.filter(**{f"pk__{'gt' if backwards else 'lt'}": key})
    keys = rows.order_by("pk" if backwards else "-pk").values_list("pk", flat=True)
    return next(iter(keys[LOOKED_THROUGH : LOOKED_THROUGH + 1]), None)
