"""One reader serves all streams: how often it asks, and what it says when it cannot."""

import asyncio
from datetime import UTC, datetime

from django.db import OperationalError

from atributo_site.core.event_cursor import EventCursor
from atributo_site.core.models import Event
from atributo_site.serving.broadcast import Broadcast
from atributo_site.serving.listener import MOST_WAITING, Listener, Notice, Round

LONG_SECONDS = 60  # a machine that stalls proves nothing


class Feed:
    """Play the database: each reading gives one more event, or fails while `broken`."""

    def __init__(self):
        self.readings = 0
        self.broken = False

    def newest(self):
        return EventCursor("0")

    def after(self, cursor, limit):
        self.readings += 1
        if self.broken:
            raise OperationalError("the database is away")
        number = int(cursor.seen) + 1
        at = datetime(2026, 1, 1, tzinfo=UTC)
        return [Event(pk=number, at=at, kind="a.made", subject=f"a:{number}")], EventCursor(
            str(number)
        )

    def broadcast(self):
        return Broadcast(self.newest, self.after, pause_seconds=0.01)


def test_one_reading_serves_every_listener():
    feed = Feed()

    async def listen():
        broadcast = feed.broadcast()
        listeners = [await broadcast.join() for _ in range(50)]
        return [await listener.next(LONG_SECONDS) for listener in listeners]

    rounds = asyncio.run(listen())
    assert all(isinstance(found, Round) for found in rounds)
    assert feed.readings < len(rounds)


def test_nobody_listens_so_nothing_is_read():
    feed = Feed()

    async def listen():
        broadcast = feed.broadcast()
        listener = await broadcast.join()
        await listener.next(LONG_SECONDS)
        broadcast.leave(listener)
        await asyncio.wait([broadcast._reading], timeout=LONG_SECONDS)
        return broadcast._reading, feed.readings

    reading, before = asyncio.run(listen())
    assert reading is None
    assert feed.readings == before


def test_a_broken_database_is_said_once_and_healing_too():
    feed = Feed()

    async def listen():
        broadcast = feed.broadcast()
        listener = await broadcast.join()
        feed.broken = True
        said = [await _said(listener)]
        feed.broken = False
        return [*said, await _said(listener)]

    assert asyncio.run(listen()) == ["degraded", "healed"]


async def _said(listener):
    async def wait():
        while not isinstance(item := await listener.next(LONG_SECONDS), Notice):
            pass
        return item.word

    return await asyncio.wait_for(wait(), LONG_SECONDS)


def test_a_listener_may_join_again_after_all_left():
    feed = Feed()

    async def listen():
        broadcast = feed.broadcast()
        for _ in range(3):
            listener = await broadcast.join()
            found = await listener.next(LONG_SECONDS)
            broadcast.leave(listener)
        return found

    assert isinstance(asyncio.run(listen()), Round)


def test_a_slow_listener_is_closed_and_not_fed_without_end():
    async def overfill():
        listener = Listener()
        for number in range(MOST_WAITING + 1):
            listener.put(Round((), str(number)))
        return listener

    listener = asyncio.run(overfill())
    assert listener.closed == "overflow"
    assert listener._queue.qsize() == MOST_WAITING
