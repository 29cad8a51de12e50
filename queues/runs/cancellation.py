"""Tell a worker at once that a job it runs was aborted or deleted.

The row decides. If Redis loses the message, the worker notices with its next heartbeat.
"""

from collections.abc import Sequence
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from atributo_site.core.availability.outages import outages
from queues.runs.doorbell import client, is_silent

CHANNEL = "rq:atributo:called-off"
NOT_SENT = "call_not_sent"


def notify_cancelled(job_ids: Sequence[int]) -> None:
    """Make every worker look at the row of what it runs."""
    if is_silent():
        return
    try:
        client().publish(CHANNEL, f"{job_ids[0]} and {len(job_ids) - 1} more")
    except RedisError as error:
        outages.warn(NOT_SENT, error, job=job_ids[0])
    else:
        outages.succeeded(NOT_SENT)


class CancelChannel:
    """The messages that a worker gets: was anything cancelled since the last look?"""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._subscription: Any = None

    def listen(self) -> None:
        """Subscribe if that is not done yet; RedisError when Redis is away."""
        if self._subscription is None:
            subscription = self._redis.pubsub()
            subscription.subscribe(CHANNEL)
            self._subscription = subscription

    def has_come(self) -> bool:
        """Return whether a message has come, without waiting."""
        if self._subscription is None:
            return False
        try:
            return self._messages() > 0
        except RedisError:
            self.close()
            return False

    def close(self) -> None:
        if self._subscription is not None:
            self._subscription.close()
            self._subscription = None

    def _messages(self) -> int:
        count = 0
        while (message := self._subscription.get_message(timeout=0)) is not None:
            count += message["type"] == "message"
        return count
