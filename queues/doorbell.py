"""The doorbell: one RQ message per slot says «look at queue Q, slot S», and nothing else.

A message is expendable. Whatever Redis loses or doubles changes nothing: the rows decide.
"""

import hashlib
import json
import zlib
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from redis import Redis
from redis.exceptions import ResponseError
from rq import Queue
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from queues.logic.storable import is_storable
from queues.models.queue import MOST_WORKERS

ENTRY = "queues.doorbell.answer"
CHANNEL = "default"
LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class Bell:
    """What a message says."""

    queue: str
    slot: int


def connection(timeout_seconds: float) -> Redis:
    """django-rq's URL, without the client's own retries: a retried push rings twice."""
    return Redis.from_url(
        str(settings.RQ_QUEUES[CHANNEL]["URL"]),
        retry=None,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
    )


def answer(*_: Any) -> None:
    """The only function a message may name; the worker pumps the slot instead of calling it."""


class DoorbellJob(Job):
    """RQ's job reduced to a bell: no function, callback, webhook or retry is ever read."""

    bell: Bell | None = None

    def restore(self, raw_data: dict[bytes, bytes]) -> None:
        self.origin = CHANNEL
        self.bell = _bell(raw_data)

    @property  # type: ignore[misc]
    def func_name(self) -> str:
        return ENTRY

    def perform(self) -> None:
        return None


class TakenBell(DoorbellJob):
    """One that its worker takes: read once and gone, in one round trip."""

    def refresh(self) -> None:
        with self.connection.pipeline() as pipeline:
            pipeline.hgetall(self.key)
            pipeline.delete(self.key, doorbell_queue(self.connection).intermediate_queue_key)
            raw_data, _ = pipeline.execute(raise_on_error=False)
        if isinstance(raw_data, ResponseError):  # no hash, so not ours
            raw_data = {b"data": b""}
        if not raw_data:
            raise NoSuchJobError(self.key)
        self.restore(raw_data)


class DoorbellQueue(Queue):
    job_class = DoorbellJob


def channel_of(station: str) -> str:
    """Every station has a bell of its own; its id may hold anything, so a digest names it."""
    if not station:
        return CHANNEL
    return f"station-{hashlib.sha256(station.encode()).hexdigest()[:20]}"


def doorbell_queue(redis: Redis, channel: str = CHANNEL) -> DoorbellQueue:
    return DoorbellQueue(channel, connection=redis, serializer=JSONSerializer)


def _bell(raw_data: dict[bytes, bytes]) -> Bell | None:
    """None for a message that we did not write."""
    try:
        packed = raw_data.get(b"data", b"")
        text = zlib.decompressobj().decompress(packed, LONGEST_MESSAGE)
        name, _, arguments, _ = json.loads(text)
        queue, slot = arguments
    except (ValueError, TypeError, RecursionError, zlib.error):
        return None
    is_ours = name == ENTRY and isinstance(queue, str) and is_storable(queue)
    return Bell(queue, slot) if is_ours and _is_number(slot) else None


def _is_number(slot: Any) -> bool:
    return isinstance(slot, int) and 0 <= slot < MOST_WORKERS
