"""What happened to one thing: its last events, what happens in many steps folded into one row."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.db.models import Value
from django.db.models.functions import Coalesce

from allocation.models import Event

IN_STEPS = "instance.jobs_moved"
MOST_STEPS = 1_000  # that are read; there may be one for every second of a long drain


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
        jobs = f"{least}{self.jobs} job{'' if self.jobs == 1 else 's'} moved"
        return f"{jobs} in {self.count} step{'' if self.count == 1 else 's'}"


def what_happened(subject: str, most: int) -> list[Event | Steps]:
    """The newest first, with two queries: the last others, and the steps between them."""
    about = Event.objects.about(subject).newest_first()
    # One subject is narrower than one kind, which SQLite has no statistics to know.
    steps = list(about.alias(its=Coalesce("kind", Value(""))).filter(its=IN_STEPS)[:MOST_STEPS])
    others = list(about.exclude(kind=IN_STEPS)[:most])
    return folded(steps, others)[:most]


def folded(steps: Sequence[Event], others: Sequence[Event]) -> list[Event | Steps]:
    """All in their order; steps with nothing between them become one row."""
    rows = sorted([*steps, *others], key=lambda event: -event.pk)
    found: list[Event | Steps] = []
    for is_step, group in groupby(rows, key=lambda event: event.kind == IN_STEPS):
        events = list(group)
        found += [_fold(events, steps)] if is_step else events
    return found


def _fold(events: Sequence[Event], steps: Sequence[Event]) -> Steps:
    jobs = sum(event.facts.get("count", 0) for event in events)
    is_cut = len(steps) == MOST_STEPS and events[-1].pk == steps[-1].pk
    return Steps(events[0], len(events), jobs, events[-1].at, is_cut)
