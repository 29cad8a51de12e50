"""What happened to one thing: its last events, what happens in many steps folded into one row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from allocation.logic.counted import counted
from allocation.models import Event

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
            return f"{least}{self.jobs} mended in {counted(self.count, 'sweep')}"
        return f"{least}{counted(self.jobs, 'job id')} moved in {counted(self.count, 'step')}"


def what_happened(subject: str, most: int) -> list[Event | Steps]:
    """The newest first, with two queries: the last of all, and the last that are no steps."""
    about = Event.objects.about(subject).newest_first()
    last = list(about[:MOST_READ])
    others = list(about.exclude(kind=IN_STEPS)[:most])
    beyond = last[-1].pk if len(last) == MOST_READ else None
    return folded([event for event in last if event.kind == IN_STEPS], others, beyond)[:most]


def lately(most: int) -> list[Event | Steps]:
    """The newest of all, in rows."""
    return in_rows(Event.objects.newest_first()[:LATELY])[:most]


def in_rows(events: Iterable[Event]) -> list[Event | Steps]:
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
