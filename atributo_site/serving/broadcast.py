"""Read new events and marks once per process and pass them to all listeners.

Changed marks become hints: about one per second, and one at once after a quiet time.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import structlog
from django.db import Error as DatabaseError
from django.db import close_old_connections, connections

from atributo_site.core.event_cursor import EventCursor, events_after, newest_cursor
from atributo_site.core.models import Event
from atributo_site.serving.listener import Hint, Item, Line, Listener, Notice, Round
from atributo_site.status.marks import Generation, Marks, changed, generation, marks

PAUSE_SECONDS = 0.2
SLOW_SECONDS = 5.0  # a round that takes longer counts as degraded
MOST_EVENTS = 2000  # per round
HINT_PAUSE_SECONDS = 0.75  # of four rounds: with reading and rendering, a page has it in a second
MOST_SUBJECTS = 50  # beyond that a hint names only their kinds

log = structlog.get_logger("atributo.stream")
Value = TypeVar("Value")


class Reading(NamedTuple):
    """Hold what one round has read; no marks if nobody wants hints."""

    lines: tuple[Line, ...]
    cursor: EventCursor
    marks: Marks | None


class Hinting:
    """Compare the marks of each round with those before; `now` is the clock of the event loop."""

    def __init__(
        self,
        read: Callable[[], Marks] = marks,
        numbers: Generation = generation,
        pause_seconds: float = HINT_PAUSE_SECONDS,
    ) -> None:
        self.read = read
        self.numbers = numbers
        self._pause_seconds = pause_seconds
        self._before: Marks | None = None
        self._subjects: set[str] = set()
        self._not_before = 0.0

    def rest(self) -> None:
        """Forget the marks while nobody wants hints."""
        self._before = None

    def hint(self, marks: Marks, subjects: Iterable[str], now: float) -> Hint | None:
        """Return the hint that is due; None if nothing changed, or the last one was just now."""
        if self._before is None:  # anything may have changed since
            self._before = marks
            self.numbers.begin()
            return self._sent((), now)
        self._subjects |= changed(self._before, marks) | set(subjects)
        self._before = marks
        if not self._subjects or now < self._not_before:
            return None
        self.numbers.advance()
        return self._sent(_shortened(self._subjects), now)

    def _sent(self, subjects: tuple[str, ...], now: float) -> Hint:
        self._subjects = set()
        self._not_before = now + self._pause_seconds
        return Hint(subjects, self.numbers.name)


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


def _shortened(subjects: set[str]) -> tuple[str, ...]:
    if len(subjects) > MOST_SUBJECTS:
        subjects = {subject.partition(":")[0] for subject in subjects}
    return tuple(sorted(subjects))
