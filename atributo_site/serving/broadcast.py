"""Read new events and marks once per process and pass them to all listeners."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import structlog
from django.db import Error as DatabaseError
from django.db import close_old_connections, connections

from atributo_site.core.event_cursor import EventCursor, events_after, newest_cursor
from atributo_site.core.models import Event
from atributo_site.serving.hinting import Hinting
from atributo_site.serving.listener import Hint, Item, Line, Listener, Notice, Round
from atributo_site.status.marks import Marks

PAUSE_SECONDS = 0.25
SLOW_SECONDS = 5.0  # a round that takes longer counts as degraded
MOST_EVENTS = 2000  # per round

log = structlog.get_logger("atributo.stream")
Value = TypeVar("Value")


class Reading(NamedTuple):
    """Hold what one round has read; no marks if nobody wants hints."""

    lines: tuple[Line, ...]
    cursor: EventCursor
    marks: Marks | None


class Broadcast:
    """Read while somebody listens: one query per round, whatever the number of listeners."""

    def __init__(
        self,
        newest: Callable[[], EventCursor] = newest_cursor,
        after: Callable[[EventCursor, int], tuple[list[Event], EventCursor]] = events_after,
        pause_seconds: float = PAUSE_SECONDS,
        hinting: Hinting | None = None,
    ) -> None:
        self._pause_seconds = pause_seconds
        self._hinting = hinting or Hinting()
        self._newest = newest
        self._after = after
        self._listeners: set[Listener] = set()
        self._reading: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._degraded = False

    @property
    def opening_hint(self) -> Hint:
        """Return what tells a page whether it is older than the hints before it listened."""
        return Hint((), self._hinting.numbers.name)

    async def join(self, *, wants_hints: bool = False) -> Listener:
        """Add a listener, which from now on misses nothing that is committed."""
        listener = Listener(wants_hints=wants_hints)
        self._listeners.add(listener)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        try:
            await asyncio.wait_for(self._ready.wait(), SLOW_SECONDS)
        except BaseException:  # also if its page was closed meanwhile
            self.leave(listener)
            raise
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def end(self) -> None:
        """End every stream with a farewell, because the process stops."""
        for listener in self._listeners:
            listener.close("stopping")

    async def _read(self) -> None:
        thread = ThreadPoolExecutor(1, "events")
        try:
            cursor = None
            while self._listeners:
                began = asyncio.get_running_loop().time()
                cursor = await self._round(thread, cursor)
                spent = asyncio.get_running_loop().time() - began
                await asyncio.sleep(max(0.0, self._pause_seconds - spent))
        finally:
            self._reading = None
            self._hinting.rest()
            self._ready.clear()
            thread.submit(connections.close_all)
            thread.shutdown(wait=False)

    async def _round(
        self, thread: ThreadPoolExecutor, cursor: EventCursor | None
    ) -> EventCursor | None:
        wants_hints = any(listener.wants_hints for listener in self._listeners)
        try:
            reading = await self._in(thread, lambda: self._step(cursor, wants_hints))
        except DatabaseError as error:
            self._say_degraded(type(error).__name__)
            return cursor
        self._say_healed()
        self._ready.set()
        if reading.lines:
            self._send_to_all(Round(reading.lines, str(reading.cursor)))
        self._hint(reading)
        return reading.cursor

    def _step(self, cursor: EventCursor | None, wants_hints: bool) -> Reading:
        close_old_connections()
        marks = self._hinting.read() if wants_hints else None
        if cursor is None:
            return Reading((), self._newest(), marks)
        events, cursor = self._after(cursor, MOST_EVENTS)
        return Reading(tuple(Line.of(event) for event in events), cursor, marks)

    def _hint(self, reading: Reading) -> None:
        if reading.marks is None:
            return self._hinting.rest()
        subjects = {line.subject for line in reading.lines}
        hint = self._hinting.hint(reading.marks, subjects, asyncio.get_running_loop().time())
        if hint is not None:
            self._send_to_all(hint)

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], Value]) -> Value:
        future = asyncio.get_running_loop().run_in_executor(thread, work)
        done, _ = await asyncio.wait([future], timeout=SLOW_SECONDS)
        if not done:  # a database that neither answers nor refuses
            self._say_degraded("no answer")
        return await future

    def _send_to_all(self, item: Item) -> None:
        for listener in self._listeners:
            listener.put(item)

    def _say_degraded(self, why: str) -> None:
        if not self._degraded:
            log.warning("stream_degraded", why=why)
            self._degraded = True
            self._send_to_all(Notice("degraded"))

    def _say_healed(self) -> None:
        if self._degraded:
            self._degraded = False
            self._send_to_all(Notice("healed"))
