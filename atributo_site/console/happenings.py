"""What happened to one thing: its last events, what happens in many steps folded into one row."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from allocation.logic.counted import counted
from allocation.models import Event

IN_STEPS = "instance.jobs_moved"
REPAIRED = "curator.repaired"
LATELY = 200  # events among which the routine is folded
MOST_READ = 500  # there may be a step for every second of a long drain


@dataclass(frozen=True)
class Steps:
    """Events of one kind with no other between them, shown like one."""

    newest: Event
    count: int
    jobs: int
    first_at: datetime
    is_cut: bool

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
    """The newest of all; what processes do again and again is one row for each subject."""
    groups: dict[object, list[Event]] = {}
    for event in Event.objects.newest_first()[:LATELY]:
        is_routine = event.kind in (IN_STEPS, REPAIRED)
        key = (event.kind, event.subject) if is_routine else event.pk
        groups.setdefault(key, []).append(event)
    found = list(groups.values())[:most]
    return [_fold(events, None) if len(events) > 1 else events[0] for events in found]


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
    jobs = sum(event.facts.get("count", 0) for event in events)
    is_cut = events[-1].pk == beyond
    return Steps(events[0], len(events), jobs, events[-1].at, is_cut)
