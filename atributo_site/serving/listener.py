"""What a listener of new events gets, and its queue, which never grows beyond its bound."""

import asyncio
import json
from dataclasses import dataclass

from atributo_site.core.models import Event
from atributo_site.serving.sse import as_json

MOST_WAITING = 40  # rounds and hints that a slow listener may be behind


@dataclass(frozen=True)
class Line:
    """Hold an event as text, which is made once for all listeners."""

    pk: int
    subject: str
    text: str

    @classmethod
    def of(cls, event: Event) -> "Line":
        return cls(event.pk, event.subject, as_json(event))


@dataclass(frozen=True)
class Round:
    """Hold the lines of one reading, and the cursor from which a reconnect goes on."""

    lines: tuple[Line, ...]
    cursor: str


@dataclass(frozen=True)
class Notice:
    """Say "degraded" while the database cannot be read and "healed" once it can."""

    word: str


@dataclass(frozen=True)
class Hint:
    """Name the subjects that changed, or none if anything may have."""

    subjects: tuple[str, ...]
    generation: str

    def as_json(self) -> str:
        return json.dumps({"generation": self.generation, "subjects": self.subjects})


Item = Round | Notice | Hint


class Listener:
    """Queue items up to a bound; `closed` says why nothing more will come."""

    def __init__(self, *, wants_hints: bool = False) -> None:
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue(MOST_WAITING)
        self.wants_hints = wants_hints
        self.closed = ""

    def put(self, item: Item) -> None:
        try:
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            self.close("overflow")

    def close(self, reason: str) -> None:
        self.closed = self.closed or reason
        if not self._queue.full():
            self._queue.put_nowait(None)  # wakes the waiting reader

    async def next(self, seconds: float) -> Item | None:
        """Return the next item; None after so many seconds, or when the queue is closed."""
        try:
            return await asyncio.wait_for(self._queue.get(), max(0.0, seconds))
        except TimeoutError:
            return None
