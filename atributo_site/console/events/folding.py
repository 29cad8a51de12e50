"""What happened to one thing: its last events, what happens in many steps folded into one row.

Events by people: few among many that no index tells apart, so a page looks only so far.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from django.db.models import QuerySet

from atributo_site.core.models import Event
from atributo_site.core.text import pluralize
from atributo_site.web.pagination import KeysetPage, page_by_key

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


IN_STEPS = "instance.jobs_moved"
REPAIRED = "curator.repaired"
ROUTINE = (IN_STEPS, REPAIRED)
LATELY = 200  # events among which the routine is folded
MOST_READ = 500  # there may be a step for every second of a long drain


@dataclass(frozen=True)
class Steps:
    """Events of one kind about one thing, the newest first, shown like one."""

    events: Sequence[Event]
    is_cut: bool = False

    @property
    def newest(self) -> Event:
        return self.events[0]

    @property
    def pk(self) -> int:
        return self.newest.pk

    @property
    def count(self) -> int:
        return len(self.events)

    @property
    def jobs(self) -> int:
        return sum(event.facts.get("count", 0) for event in self.events)

    @property
    def first_at(self) -> datetime:
        return self.events[-1].at

    @property
    def kind(self) -> str:
        return self.newest.kind

    @property
    def subject(self) -> str:
        return self.newest.subject

    @property
    def at(self) -> datetime:
        return self.newest.at

    @property
    def actor(self) -> str:
        return self.newest.actor

    @property
    def channel(self) -> str:
        return self.newest.channel

    @property
    def sentence(self) -> str:
        least = "at least " if self.is_cut else ""
        if self.kind == REPAIRED:
            return f"{least}{self.jobs} mended in {pluralize(self.count, 'sweep')}"
        return f"{least}{pluralize(self.jobs, 'job id')} moved in {pluralize(self.count, 'step')}"


def events_of(subject: str, most: int) -> list[Event | Steps]:
    """The newest first, with two queries: the last of all, and the last that are no steps."""
    about = Event.objects.about(subject).newest_first()
    last = list(about[:MOST_READ])
    others = list(about.exclude(kind=IN_STEPS)[:most])
    beyond = last[-1].pk if len(last) == MOST_READ else None
    return folded([event for event in last if event.kind == IN_STEPS], others, beyond)[:most]


def recent_events(most: int) -> list[Event | Steps]:
    """The newest of all, in rows."""
    return fold_events(Event.objects.newest_first()[:LATELY])[:most]


def fold_events(events: Iterable[Event]) -> list[Event | Steps]:
    """What processes do again and again is one row, until something else happens to its subject."""
    found: list[list[Event]] = []
    last: dict[str, list[Event]] = {}
    for event in events:
        row = last.get(event.subject)
        if event.kind in ROUTINE and row and row[0].kind == event.kind:
            row.append(event)
        else:
            last[event.subject] = [event]
            found.append(last[event.subject])
    return [Steps(row) if len(row) > 1 else row[0] for row in found]


def folded(
    steps: Sequence[Event], others: Sequence[Event], beyond: int | None = None
) -> list[Event | Steps]:
    """All in their order; steps with nothing between them become one row."""
    rows = sorted([*steps, *others], key=lambda event: -event.pk)
    found: list[Event | Steps] = []
    for is_step, group in groupby(rows, key=lambda event: event.kind == IN_STEPS):
        events = list(group)
        found += [_fold(events, beyond)] if is_step else events
    return found


def _fold(events: Sequence[Event], beyond: int | None) -> Steps:
    """There may be more of them if the oldest is the last that was read."""
    return Steps(events, is_cut=events[-1].pk == beyond)
