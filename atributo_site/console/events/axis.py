"""Draw events on a time axis: a lane for each room, a dot for each event."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from atributo_site.core.models import Event

WIDTH = 1000
LABEL = 120  # width of a lane's name
STEP = 26
MARGIN = 14

ROOMS = {
    "Allocation": "instance allocation allocations id_numbers",
    "Transactions": "transaction document lock collection",
    "Queues": "queue job service script",
    "Pools": "pool backend",
    "Curators": "curator rule",
}
ROOM_OF = {noun: room for room, nouns in ROOMS.items() for noun in nouns.split()}
OTHER = "Site"


@dataclass(frozen=True)
class Dot:
    event: Event
    x: float
    y: float


@dataclass(frozen=True)
class Lane:
    name: str
    y: float


@dataclass(frozen=True)
class Axis:
    lanes: list[Lane]
    dots: list[Dot]
    first: datetime
    last: datetime
    width: int = WIDTH
    left: int = LABEL

    @property
    def height(self) -> int:
        return len(self.lanes) * STEP + MARGIN

    @property
    def right(self) -> int:
        return self.width - MARGIN


def room_of(subject: str) -> str:
    return ROOM_OF.get(subject.partition(":")[0], OTHER)


def axis(events: Sequence[Event]) -> Axis | None:
    """Return the drawing; None for fewer than two moments."""
    if not events:
        return None
    first, last = min(e.at for e in events), max(e.at for e in events)
    if first == last:
        return None
    names = [name for name in [*ROOMS, OTHER] if any(room_of(e.subject) == name for e in events)]
    lanes = {name: Lane(name, MARGIN + number * STEP) for number, name in enumerate(names)}
    span = (last - first).total_seconds()
    dots = [
        Dot(event, _x((event.at - first).total_seconds() / span), lanes[room_of(event.subject)].y)
        for event in events
    ]
    return Axis(list(lanes.values()), dots, first, last)


def _x(part: float) -> float:
    return round(LABEL + part * (WIDTH - LABEL - MARGIN), 1)
