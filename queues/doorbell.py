"""The doorbell: one RQ message per slot says "look at queue Q, slot S", and nothing else.

A message is expendable. Whatever Redis loses or doubles changes nothing: the rows decide. All
names in Redis are our own, so that other programs may use RQ beside us.
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
from rq.job import Job
from rq.serializers import JSONSerializer

from queues.logic.storable import is_storable
from queues.models.queue import MOST_WORKERS

ENTRY = "queues.doorbell.answer"
CHANNEL = "atributo-bells"
ASIDE = f"{CHANNEL}-foreign"  # what others put among our bells is kept here
LONGEST_MESSAGE = 2000
MESSAGE_SECONDS = 60

# One that still waits keeps its place: ringing again must not send it to the end of the line.
PUSH_ONCE = "return redis.call('LPOS', KEYS[1], ARGV[1]) or redis.call('RPUSH', KEYS[1], ARGV[1])"


@dataclass(frozen=True)
class Bell:
    """What a message says."""

    queue: str
    slot: int
    first: bool = False  # for the next job of a queue that had nothing to do


class Foreign(Exception):
    """A message that we did not write."""


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


def channel_of(station: str, *, first: bool = False) -> str:
    """Every station has bells of its own; its id may hold anything, so a digest names them."""
    name = f"{CHANNEL}-first" if first else CHANNEL
    return f"{name}-{hashlib.sha256(station.encode()).hexdigest()[:20]}" if station else name


def doorbell_queue(redis: Redis, channel: str = CHANNEL) -> Queue:
    return Queue(channel, connection=redis, serializer=JSONSerializer)


def put(pipeline: Any, doorbells: Queue, queue_id: int, queue: str, slot: tuple[int, int]) -> None:
    """Add the message for one slot, given by its id and number."""
    slot_id, number = slot
    # Not enqueue(): it asks Redis about dependencies first.
    message = Job.create(
        ENTRY,
        args=[queue, number],
        id=f"{doorbells.name}-{queue_id}-{slot_id}",
        connection=doorbells.connection,
        serializer=JSONSerializer,
        description="bell",
        result_ttl=0,
    )
    message.save(pipeline=pipeline)
    pipeline.expire(message.key, MESSAGE_SECONDS)
    pipeline.eval(PUSH_ONCE, 1, doorbells.key, message.id)


def queue_id_of(message_id: bytes) -> int | None:
    """Of the queue that a message of ours calls to; None for others' messages."""
    *name, queue_id, _ = message_id.rsplit(b"-", 2)
    is_ours = name and name[0].startswith(CHANNEL.encode()) and queue_id.isdigit()
    return int(queue_id) if is_ours else None


def read(redis: Redis, message_id: bytes, *, first: bool) -> Bell | None:
    """None for a message that is gone; Foreign for one that we did not write."""
    try:
        raw_data: Any = redis.hgetall(Job.redis_job_namespace_prefix.encode() + message_id)
    except ResponseError as error:  # no hash
        raise Foreign from error
    return _bell(raw_data, first) if raw_data else None


def set_aside(redis: Redis, message_id: bytes) -> None:
    """Whose message it is may move it to where it belongs; itself it is as it was."""
    redis.rpush(doorbell_queue(redis, ASIDE).key, message_id)


def _bell(raw_data: dict[bytes, bytes], first: bool) -> Bell:
    try:
        packed = raw_data.get(b"data", b"")
        text = zlib.decompressobj().decompress(packed, LONGEST_MESSAGE)
        name, _, arguments, _ = json.loads(text)
        queue, slot = arguments
    except (ValueError, TypeError, RecursionError, zlib.error) as error:
        raise Foreign from error
    is_ours = name == ENTRY and isinstance(queue, str) and is_storable(queue)
    if not is_ours or not _is_number(slot):
        raise Foreign
    return Bell(queue, slot, first)


def _is_number(slot: Any) -> bool:
    return isinstance(slot, int) and 0 <= slot < MOST_WORKERS
