"""Read new events once per process and pass them to all listeners."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import structlog
from django.db import Error as DatabaseError
from django.db import close_old_connections, connections

from atributo_site.core.event_cursor import EventCursor, events_after, newest_cursor
from atributo_site.core.models import Event
from atributo_site.serving.listener import Line, Listener, Notice, Round

PAUSE_SECONDS = 0.5
SLOW_SECONDS = 5.0  # a round that takes longer counts as degraded
MOST_EVENTS = 2000  # per round

log = structlog.get_logger("atributo.stream")
Value = TypeVar("Value")


class Broadcast:
    """Read while somebody listens: one query per round, whatever the number of listeners."""

    def __init__(
        self,
        newest: Callable[[], EventCursor] = newest_cursor,
        after: Callable[[EventCursor, int], tuple[list[Event], EventCursor]] = events_after,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._pause_seconds = pause_seconds
        self._newest = newest
        self._after = after
        self._listeners: set[Listener] = set()
        self._reading: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._degraded = False

    async def join(self) -> Listener:
        """Add a listener, which from now on misses nothing that is committed."""
        listener = Listener()
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
            self._ready.clear()
            thread.submit(connections.close_all)
            thread.shutdown(wait=False)

    async def _round(
        self, thread: ThreadPoolExecutor, cursor: EventCursor | None
    ) -> EventCursor | None:
        try:
            lines, cursor = await self._in(thread, lambda: self._step(cursor))
        except DatabaseError as error:
            self._say_degraded(type(error).__name__)
            return cursor
        self._say_healed()
        self._ready.set()
        if lines:
            self._send_to_all(Round(lines, str(cursor)))
        return cursor

    def _step(self, cursor: EventCursor | None) -> tuple[tuple[Line, ...], EventCursor]:
        close_old_connections()
        if cursor is None:
            return (), self._newest()
        events, cursor = self._after(cursor, MOST_EVENTS)
        return tuple(Line.of(event) for event in events), cursor

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], Value]) -> Value:
        future = asyncio.get_running_loop().run_in_executor(thread, work)
        done, _ = await asyncio.wait([future], timeout=SLOW_SECONDS)
        if not done:  # a database that neither answers nor refuses
            self._say_degraded("no answer")
        return await future

    def _send_to_all(self, item: Round | Notice) -> None:
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
