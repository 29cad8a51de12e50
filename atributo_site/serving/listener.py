"""A listener of new events: what it is told, and a queue that never grows beyond its bound."""

import asyncio
from dataclasses import dataclass

from atributo_site.core.models import Event
from atributo_site.serving.sse import as_json

MOST_WAITING = 20  # rounds that a slow listener may be behind


@dataclass(frozen=True)
class Line:
    """An event as every listener gets it, made into text once."""

    pk: int
    subject: str
    text: str

    @classmethod
    def of(cls, event: Event) -> "Line":
        return cls(event.pk, event.subject, as_json(event))


@dataclass(frozen=True)
class Round:
    """What one reading found, and the mark from which a reconnect goes on."""

    lines: tuple[Line, ...]
    mark: str


@dataclass(frozen=True)
class Notice:
    """degraded while the database cannot be read, healed once it can."""

    word: str


class Listener:
    """A bounded queue; `closed` says why nothing more will come."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Round | Notice | None] = asyncio.Queue(MOST_WAITING)
        self.closed = ""

    def put(self, item: Round | Notice) -> None:
        try:
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            self.close("overflow")

    def close(self, reason: str) -> None:
        self.closed = self.closed or reason
        if not self._queue.full():
            self._queue.put_nowait(None)  # wakes whoever waits

    async def next(self, seconds: float) -> Round | Notice | None:
        """None when there was nothing for so long, or when it has been closed."""
        try:
            return await asyncio.wait_for(self._queue.get(), max(0.0, seconds))
        except TimeoutError:
            return None
