"""Choose among the bells: for workers that serve some queues only, or run many jobs at once.

Bells that a worker does not serve stay for others. A message on a channel says that one rang, so
that nobody has to look all the time.
"""

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import structlog
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue as RQQueue

from queues.logic.queue_choice import QueueChoice
from queues.models import Queue
from queues.runs.doorbell import (
    RUNG,
    Bell,
    Foreign,
    channel_of,
    doorbell_queue,
    queue_id_of,
    read,
    set_aside,
)

log = structlog.get_logger(__name__)

WAIT_SECONDS = 1.0
PEEK_SECONDS = 0.02  # between two looks while jobs run
AWAY_SECONDS = 5.0  # a Redis that did not answer a look is not asked again for so long
LOOK_SECONDS = 0.25  # between two looks though nothing rang
MOST_BELLS = 10_000


class Heard(NamedTuple):
    """A bell that nobody has taken yet."""

    key: str
    message_id: Any  # bytes, which the client's types do not know
    queue_id: int
    place: int
    is_first: bool


class BellWatcher:
    """It has the methods of BellListener."""

    def __init__(
        self,
        redis: Redis,
        station: str,
        alarm: Callable[[bytes], None],
        choice: QueueChoice,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        stations = [station, ""] if station else [""]
        self._redis = redis
        self._first = [doorbell_queue(redis, channel_of(each, first=True)) for each in stations]
        self._others = [doorbell_queue(redis, channel_of(each)) for each in stations]
        self._alarm = alarm
        self._choice = choice
        self._monotonic = monotonic
        self._places: dict[int, int | None] = {0: 0}  # scripts that somebody waits for: 0
        self._subscription: Any = None
        self._peek_at = self._look_at = 0.0
        self._may_hang = True  # a bell that nobody has seen yet
        self._prefers_first = True
        self.hanging, self.saw_suspension = 0, None

    @property
    def doorbells(self) -> list[RQQueue]:
        return [*self._first, *self._others]

    def wait(self, *, shared: bool = True) -> Bell | None:
        """Return the next bell within a second; of its station only, unless it is `shared`."""
        self.listen()
        self.hear()
        bell = self.take(shared=shared)
        if bell is None and self.hear(WAIT_SECONDS):
            bell = self.take(shared=shared)
        return bell

    def listen(self) -> None:
        """Subscribe if that is not done yet; RedisError when Redis is away."""
        if self._subscription is None:
            subscription = self._redis.pubsub(ignore_subscribe_messages=True)
            subscription.subscribe(RUNG)
            self._subscription = subscription
            self._may_hang = True

    def hear(self, seconds: float = 0.0) -> bool:
        """Return whether a bell rang, and wait for it as long as this."""
        if self._subscription is None:
            return False
        try:
            has_rung = self._subscription.get_message(timeout=seconds) is not None
            give_up = self._monotonic() + 0.01
            while self._subscription.get_message(timeout=0) and self._monotonic() < give_up:
                has_rung = True
        except RedisError:
            self._subscription.close()
            self._subscription = None
            raise
        self._may_hang = self._may_hang or has_rung
        return has_rung

    def fileno(self) -> int:
        """Return the descriptor that can be read when a bell rings."""
        if self._subscription is None or self._subscription.connection is None:
            return -1
        sock = self._subscription.connection._sock
        return -1 if sock is None else sock.fileno()

    def take(self, *, shared: bool = True) -> Bell | None:
        """Take the bell whose turn it is, if there is one, without waiting.

        Redis is not asked again while nothing has rung since it had no bell.
        """
        if not self._may_hang and self._monotonic() < self._look_at:
            return None
        self._look_at = self._monotonic() + LOOK_SECONDS
        heard = self._heard(shared)
        while heard:
            bell = self._next_of(heard)
            heard.remove(bell)
            self.hanging = len(heard)
            if self._redis.lrem(bell.key, 1, bell.message_id):  # one worker gets it
                return self._taken(bell)
        self._may_hang = False
        return None

    def urgent(self, queue_id: int, *, shared: bool = True) -> Bell | None:
        """Take a bell for which the jobs of this queue have to wait, without waiting."""
        now = self._monotonic()
        if now < self._peek_at:
            return None
        self._peek_at = now + PEEK_SECONDS
        try:
            return self._more_urgent(queue_id, shared)
        except RedisError as error:
            log.warning("bells_not_seen", error=str(error))
            self._peek_at = now + AWAY_SECONDS
            return None

    def answered(self, bell: Bell, seconds: float) -> None:
        """First bells and the others take turns."""

    def others_wait(self) -> bool:
        try:
            return bool(self._heard(shared=True))
        except RedisError as error:
            log.warning("bells_not_seen", error=str(error))
            return False

    def _more_urgent(self, queue_id: int, shared: bool) -> Bell | None:
        heard = [bell for bell in self._heard(shared) if bell.queue_id != queue_id]
        if self._choice.is_strict:
            place = self._place_of(queue_id)
            before = [bell for bell in heard if place is not None and bell.place < place]
            heard = before or [bell for bell in heard if bell.place == place and bell.is_first]
        else:
            heard = [bell for bell in heard if bell.is_first]
        for bell in heard:
            if self._redis.lrem(bell.key, 1, bell.message_id):
                return self._taken(bell)
        return None

    def _next_of(self, heard: list[Heard]) -> Heard:
        if self._choice.is_strict:
            return min(heard, key=lambda bell: (bell.place, not bell.is_first))
        places = sorted({bell.place for bell in heard})
        weights = [self._choice.weight(place) for place in places]
        [place] = random.choices(places, weights)
        here = [bell for bell in heard if bell.place == place]
        self._prefers_first = not self._prefers_first
        return next((bell for bell in here if bell.is_first == self._prefers_first), here[0])

    def _heard(self, shared: bool) -> list[Heard]:
        """Return the bells of queues that are served, in the order in which they rang."""
        number = len(self._first) if shared else 1
        lists = [(each.key, True) for each in self._first[:number]]
        lists += [(each.key, False) for each in self._others[:number]]
        with self._redis.pipeline(transaction=False) as pipeline:
            for key, _ in lists:
                pipeline.lrange(key, 0, MOST_BELLS)
            found = pipeline.execute()
        return [
            bell
            for (key, is_first), messages in zip(lists, found, strict=True)
            for message_id in messages
            if (bell := self._served(key, message_id, is_first)) is not None
        ]

    def _served(self, key: str, message_id: bytes, is_first: bool) -> Heard | None:
        queue_id = queue_id_of(message_id)
        if queue_id is None:
            return Heard(key, message_id, -1, 0, is_first)  # is set aside
        place = self._place_of(queue_id)
        return None if place is None else Heard(key, message_id, queue_id, place, is_first)

    def _place_of(self, queue_id: int) -> int | None:
        """Return where the queue comes in the choice; a queue keeps its id and its name."""
        if queue_id not in self._places:
            name = Queue.objects.filter(pk=queue_id).values_list("name", flat=True).first()
            if name is None:
                return None
            self._places[queue_id] = self._choice.place(name)
        return self._places[queue_id]

    def _taken(self, bell: Heard) -> Bell | None:
        try:
            return read(self._redis, bell.message_id, first=bell.is_first)
        except Foreign:
            set_aside(self._redis, bell.message_id)
            self._alarm(bell.message_id)
            return None
