"""Choose which bell a worker answers next.

A bell that is `first` calls to the next job of a queue that had nothing to do, and does not wait
until others have had their time slice. So that those get their share nevertheless, no first bell is
preferred for as long as the last one made them wait.
"""

import time
from collections.abc import Callable
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.exceptions import DequeueTimeout

from atributo_site.core.availability.outages import outages
from queues.runs.doorbell import (
    Bell,
    Foreign,
    channel_of,
    doorbell_queue,
    queue_id_of,
    read,
    set_aside,
)

NOT_SEEN = "bells_not_seen"

WAIT_SECONDS = 1
PEEK_SECONDS = 0.02  # between two looks while jobs run
AWAY_SECONDS = 5.0  # a Redis that did not answer a look is not asked again for so long
LONGEST_PATIENCE_SECONDS = 5.0


class BellListener:
    def __init__(
        self,
        redis: Redis,
        station: str,
        alarm: Callable[[bytes], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        stations = [station, ""] if station else [""]
        self._redis = redis
        self._first = [doorbell_queue(redis, channel_of(each, first=True)) for each in stations]
        self._others = [doorbell_queue(redis, channel_of(each)) for each in stations]
        self._alarm = alarm
        self._monotonic = monotonic
        self._patient_until = 0.0
        self._peek_at = 0.0

    @property
    def doorbells(self) -> list[Queue]:
        return [*self._first, *self._others]

    def wait(self, *, shared: bool = True) -> Bell | None:
        """Return the next bell within a second; of its station only, unless it is `shared`."""
        first, others = self._channels(shared)
        order = [*others, *first] if self._is_patient() else [*first, *others]
        keys = [doorbells.key for doorbells in order]
        try:
            key, message_id = Queue.lpop(keys, WAIT_SECONDS, connection=self._redis)
        except DequeueTimeout:
            outages.succeeded(NOT_SEEN)
            return None
        outages.succeeded(NOT_SEEN)
        return self._taken(message_id, first=key.decode() in {each.key for each in first})

    def listen(self) -> None:
        """Nothing is to be done for a worker that waits at the lists themselves."""

    def hear(self) -> bool:
        return True

    def fileno(self) -> int:
        return -1

    def take(self, *, shared: bool = True) -> Bell | None:
        """Take the next bell without waiting."""
        first, others = self._channels(shared)
        for doorbells in [*others, *first] if self._is_patient() else [*first, *others]:
            if (message_id := self._redis.lpop(doorbells.key)) is not None:
                return self._taken(message_id, first=doorbells in first)
        return None

    def urgent(self, queue_id: int, *, shared: bool = True) -> Bell | None:
        """Take a first bell of another queue, if there is one, without waiting."""
        now = self._monotonic()
        if now < self._peek_at or self._is_patient():
            return None
        self._peek_at = now + PEEK_SECONDS
        try:
            return self._peek(queue_id, self._channels(shared)[0])
        except RedisError as error:
            outages.warn(NOT_SEEN, error)
            self._peek_at = now + AWAY_SECONDS
            return None

    def answered(self, bell: Bell, seconds: float) -> None:
        """If others waited meanwhile, let them come first for as long as this took."""
        if bell.first and self.others_wait():
            self._patient_until = self._monotonic() + min(seconds, LONGEST_PATIENCE_SECONDS)

    def others_wait(self) -> bool:
        try:
            return self._redis.exists(*(each.key for each in self._others)) > 0
        except RedisError as error:
            outages.warn(NOT_SEEN, error)
            return False

    def _channels(self, shared: bool) -> tuple[list[Queue], list[Queue]]:
        return (self._first, self._others) if shared else (self._first[:1], self._others[:1])

    def _is_patient(self) -> bool:
        return self._monotonic() < self._patient_until

    def _peek(self, queue_id: int, doorbells: list[Queue]) -> Bell | None:
        for each in doorbells:
            message_ids: list[Any] = self._redis.lrange(each.key, 0, -1)
            for message_id in message_ids:
                others = queue_id_of(message_id) not in {None, queue_id}
                if others and self._redis.lrem(each.key, 1, message_id):  # one worker gets it
                    return self._taken(message_id, first=True)
        return None

    def _taken(self, message_id: Any, *, first: bool) -> Bell | None:
        try:
            return read(self._redis, message_id, first=first)
        except Foreign:
            set_aside(self._redis, message_id)
            self._alarm(message_id)
            return None
