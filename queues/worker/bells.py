"""Choose which bell a worker answers next.

A bell that is `first` calls to the next job of a queue that had nothing to do, and does not wait
until others have had their time slice. So that those get their share nevertheless, no first bell is
preferred for as long as the last one made them wait.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.exceptions import DequeueTimeout
from rq.job import Job
from rq.suspension import WORKERS_SUSPENDED

from atributo_site.core.availability.outages import outages
from queues.runs.doorbell import (
    Bell,
    Foreign,
    bell_of,
    channel_of,
    doorbell_queue,
    message_of,
    queue_id_of,
    read,
    set_aside,
)

NOT_SEEN = "bells_not_seen"

WAIT_SECONDS = 1
PEEK_SECONDS = 0.02  # between two looks while jobs run
AWAY_SECONDS = 5.0  # a Redis that did not answer a look is not asked again for so long
LONGEST_PATIENCE_SECONDS = 5.0
PAGE = 16  # bells that are looked at together

# Take the first bell of these lists with its message, count the bells that are left, and look
# whether workers are suspended. What is no message of ours is returned as nothing.
TAKE = """
for place, key in ipairs(KEYS) do
    local id = redis.call('LPOP', key)
    if id then
        local left = 0
        for _, each in ipairs(KEYS) do left = left + redis.call('LLEN', each) end
        local message = redis.pcall('HGETALL', ARGV[1] .. id)
        return {place, id, not message.err and message, left, redis.call('EXISTS', ARGV[2])}
    end
end"""


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
        self._owed_seconds = 0.0  # what first bells took since somebody looked who waited for them
        self._rings_often = False  # the last bell was there already
        self.hanging = 0  # bells that nobody has answered yet, when the last one was taken
        self.saw_suspension: bool | None = None  # just then; None if nobody looked

    @property
    def doorbells(self) -> list[Queue]:
        return [*self._first, *self._others]

    def wait(self, *, shared: bool = True) -> Bell | None:
        """Return the next bell within a second; of its station only, unless it is `shared`."""
        first, others = self._channels(shared)
        order = [*others, *first] if self._is_patient() else [*first, *others]
        keys = [doorbells.key for doorbells in order]
        taken = self._take_at_once(keys) if self._rings_often else None
        if taken is None:
            taken = self._take_later(keys)
        outages.succeeded(NOT_SEEN)
        self._rings_often = taken is not None
        if taken is None:
            return None
        is_first = taken.key in {each.key for each in first}
        return self._understood(taken.message_id, lambda: bell_of(taken.message, first=is_first))

    def _take_at_once(self, keys: list[str]) -> "Taken | None":
        """Take a bell that hangs already, in one round trip."""
        prefix = Job.redis_job_namespace_prefix
        answer: Any = self._redis.eval(TAKE, len(keys), *keys, prefix, WORKERS_SUSPENDED)
        if answer is None:
            return None
        place, message_id, message, self.hanging, suspended = answer
        self.saw_suspension = bool(suspended)
        return Taken(keys[place - 1], message_id, _hash_of(message))

    def _take_later(self, keys: list[str]) -> "Taken | None":
        """Wait for the next bell."""
        self.hanging, self.saw_suspension = 0, None
        try:
            key, message_id = Queue.lpop(keys, WAIT_SECONDS, connection=self._redis)
        except DequeueTimeout:
            return None
        return Taken(key.decode(), message_id, message_of(self._redis, message_id))

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
        if not bell.first:
            return
        self._owed_seconds += seconds
        if self._owed_seconds < PEEK_SECONDS:  # Redis is asked once for many short ones
            return
        owed_seconds, self._owed_seconds = self._owed_seconds, 0.0
        if self.others_wait():
            patience = min(owed_seconds, LONGEST_PATIENCE_SECONDS)
            self._patient_until = self._monotonic() + patience

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
            for message_id in self._hanging_at(each):
                others = queue_id_of(message_id) not in {None, queue_id}
                if others and self._redis.lrem(each.key, 1, message_id):  # one worker gets it
                    return self._taken(message_id, first=True)
        return None

    def _hanging_at(self, doorbells: Queue) -> Iterator[Any]:
        """Go through the bells in pages: with many queues the first is mostly the right one."""
        begin = 0
        while page := self._redis.lrange(doorbells.key, begin, begin + PAGE - 1):
            yield from page
            begin += PAGE

    def _taken(self, message_id: Any, *, first: bool) -> Bell | None:
        return self._understood(message_id, lambda: read(self._redis, message_id, first=first))

    def _understood(self, message_id: Any, read_bell: Callable[[], Bell | None]) -> Bell | None:
        try:
            return read_bell()
        except Foreign:
            set_aside(self._redis, message_id)
            self._alarm(message_id)
            return None


class Taken(NamedTuple):
    """A message, and the list in which it was."""

    key: str
    message_id: Any
    message: dict[bytes, bytes] | None  # None if it is not one of ours


def _hash_of(flat: list[bytes] | None) -> dict[bytes, bytes] | None:
    return None if flat is None else dict(zip(flat[::2], flat[1::2], strict=True))
