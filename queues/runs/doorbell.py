"""The doorbell: one RQ message per slot says "look at queue Q, slot S", and nothing else.

A message is expendable. Whatever Redis loses or doubles changes nothing: the rows decide. All names
in Redis are our own, so that other programs may use RQ beside us.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError, ResponseError
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from atributo_site.core.availability.outages import outages
from atributo_site.core.database import dialect, execute, listed
from queues.logic.storable import is_storable
from queues.models.queue import MOST_WORKERS
from queues.runs.slots import HeldSlot
from queues.sql import slots, sticky, work

ENTRY = "queues.runs.doorbell.answer"
CHANNEL = "atributo-bells"
ASIDE = f"{CHANNEL}-foreign"  # what others put among our bells is kept here
RUNG = "rq:atributo:rung"  # where workers that choose among bells hear that one rang
LONGEST_MESSAGE = 2000
MESSAGE_SECONDS = 60

# A message that still waits keeps its place: ringing again must not move it to the end.
PUSH_ONCE = "return redis.call('LPOS', KEYS[1], ARGV[1]) or redis.call('RPUSH', KEYS[1], ARGV[1])"
NOT_SENT = "bell_not_sent"
RING_AGAIN_SECONDS = 2.0  # a bell that nobody answered may have been lost with Redis
ANSWER_SECONDS = 0.5
_clients: dict[int, Redis] = {}


@dataclass(frozen=True)
class Bell:
    """What a message says."""

    queue: str
    slot: int
    first: bool = False  # for the next job of a queue that had nothing to do


class Foreign(Exception):
    """A message that we did not write."""


def address() -> str:
    """Return the URL of Redis that django-rq knows."""
    ours = settings.ATRIBUTO
    return ours.redis_address if ours.is_hosted else str(settings.RQ_QUEUES[CHANNEL]["URL"])


def connection(timeout_seconds: float) -> Redis:
    """Connect without the client's retries: a retried push rings twice."""
    return Redis.from_url(
        address(),
        retry=None,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
    )


def answer(*_: Any) -> None:
    """The only function that a message may name; the worker runs the slot instead of calling it."""


def channel_of(station: str, *, first: bool = False) -> str:
    """Return the bells of a station, named by a digest because its id may hold any character."""
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
        id=_id_of(doorbells, queue_id, slot_id),
        connection=doorbells.connection,
        serializer=JSONSerializer,
        description="bell",
        result_ttl=0,
    )
    message.save(pipeline=pipeline)
    pipeline.expire(message.key, MESSAGE_SECONDS)
    pipeline.eval(PUSH_ONCE, 1, doorbells.key, message.id)


def _id_of(doorbells: Queue, queue_id: int, slot_id: int) -> str:
    return f"{doorbells.name}-{queue_id}-{slot_id}"


def queue_id_of(message_id: bytes) -> int | None:
    """Return the queue that a message of ours calls to; None for messages of others."""
    *name, queue_id, _ = message_id.rsplit(b"-", 2)
    is_ours = name and name[0].startswith(CHANNEL.encode()) and queue_id.isdigit()
    return int(queue_id) if is_ours else None


def read(redis: Redis, message_id: bytes, *, first: bool) -> Bell | None:
    """Return the bell, None if the message is gone; raise Foreign if we did not write it."""
    return bell_of(message_of(redis, message_id), first=first)


def message_of(redis: Redis, message_id: bytes) -> dict[bytes, bytes] | None:
    """Return what RQ keeps of a message, empty if it is gone; None if it is no message."""
    try:
        raw_data: Any = redis.hgetall(Job.redis_job_namespace_prefix.encode() + message_id)
    except ResponseError:  # no hash
        return None
    return raw_data


def bell_of(message: dict[bytes, bytes] | None, *, first: bool) -> Bell | None:
    if message is None:
        raise Foreign
    return _bell(message, first) if message else None


def set_aside(redis: Redis, message_id: bytes) -> None:
    """Keep a foreign message unchanged where its owner can find it."""
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


def ring(
    queue_id: int,
    queue: str,
    jobs: int = 1,
    *,
    station: str = "",
    leftover: bool = False,
) -> int:
    """Ring for up to `jobs` free slots, at a station if it is named; return how many bells rang.

    The bell is a first one if nobody was called to the queue before, unless it calls to the
    leftover of a time slice.
    """
    slots, idle = _chosen(queue_id, jobs, station, RING_AGAIN_SECONDS)
    first = idle and not leftover
    return call(queue_id, queue, slots, station=station, first=first) if slots else 0


def ring_ahead(queue_id: int, queue: str, *, station: str = "") -> int:
    """Ring at once, though the queue waits for its turn: its next job outranks the others."""
    slots, _ = _chosen(queue_id, 1, station, -MESSAGE_SECONDS)
    return call(queue_id, queue, slots, station=station, first=True) if slots else 0


def queues_to_ring() -> list[tuple[int, str, int]]:
    """Return queues with a due job and a free slot: id, name, how many jobs may run at once."""
    return execute(work.queues_to_ring(dialect()), _reach()).rows


def ring_all(queue_ids: list[int]) -> int:
    """Ring for queues that have one slot each; a bell that still hangs is left as it is."""
    if not queue_ids:
        return 0
    asked = {**_reach(), "ids": listed(queue_ids)}
    free = [Call(*row) for row in execute(work.slots_to_ring(dialect()), asked).rows]
    marked = {slot_id for (slot_id,) in _mark([each.slot_id for each in free])}
    calls = [each for each in free if each.slot_id in marked]
    try:
        _send_all(calls)
    except RedisError as error:
        outages.warn(NOT_SENT, error, queues=len(calls))
        return 0
    outages.succeeded(NOT_SENT)
    return len(calls)


class Call(NamedTuple):
    """A bell for the one slot of a queue."""

    queue_id: int
    queue: str
    first: bool
    slot_id: int


def _mark(slot_ids: list[int]) -> list[Any]:
    if not slot_ids:
        return []
    return execute(work.mark_as_rung(dialect()), {**_reach(), "ids": listed(slot_ids)}).rows


def _send_all(calls: list[Call]) -> None:
    if is_silent():
        return
    redis = client()
    first, others = (doorbell_queue(redis, channel_of("", first=each)) for each in (True, False))
    hanging = _hanging(redis, [first, others])
    with redis.pipeline(transaction=False) as pipeline:
        for each in calls:
            if not hanging & {
                _id_of(bells, each.queue_id, each.slot_id) for bells in (first, others)
            }:
                put(
                    pipeline,
                    first if each.first else others,
                    each.queue_id,
                    each.queue,
                    (each.slot_id, 0),
                )
        for doorbells in (first, others):
            pipeline.expire(doorbells.key, MESSAGE_SECONDS)
        pipeline.publish(RUNG, "")
        pipeline.execute()


def _hanging(redis: Redis, doorbells: list[Queue]) -> set[str]:
    """Return the ids of messages that wait for a worker, and keep them from expiring."""
    found: list[Any] = [message for each in doorbells for message in redis.lrange(each.key, 0, -1)]
    with redis.pipeline(transaction=False) as pipeline:
        for message_id in found:
            pipeline.expire(Job.redis_job_namespace_prefix.encode() + message_id, MESSAGE_SECONDS)
        there = pipeline.execute()
    return {
        message_id.decode() for message_id, is_there in zip(found, there, strict=True) if is_there
    }


def _reach() -> dict[str, float]:
    return {"ring_again_seconds": -RING_AGAIN_SECONDS, "message_seconds": -MESSAGE_SECONDS}


def call(
    queue_id: int,
    queue: str,
    slots: list[tuple[int, int]],
    *,
    station: str = "",
    first: bool = False,
) -> int:
    """Send the bells of slots that are marked as rung, at most one as a first bell; count them."""
    try:
        send(queue_id, queue, slots[:1], channel_of(station, first=first))
        if slots[1:]:
            send(queue_id, queue, slots[1:], channel_of(station))
    except RedisError as error:  # the sweep rings again, and workers look by themselves
        outages.warn(NOT_SENT, error, queue=queue)
        return 0
    outages.succeeded(NOT_SENT)
    return len(slots)


def call_any(slot: HeldSlot) -> None:
    """Ring for what the holder of this slot leaves undone."""
    ring(slot.queue_id, slot.queue, leftover=True)


def _chosen(
    queue_id: int, jobs: int, station: str, again_seconds: float
) -> tuple[list[tuple[int, int]], bool]:
    """Mark free slots as rung; return them, and whether no slot of the queue was rung before."""
    d = dialect()
    served = sticky.is_served(d) if station else "TRUE"
    asked = {"queue_id": queue_id, "station": station, "slots": max(1, jobs)}
    asked |= {"ring_again_seconds": -again_seconds, "message_seconds": -MESSAGE_SECONDS}
    if d.vendor == "postgresql":
        rows = execute(slots.choose_slots_and_tell(d, served), asked).rows
        return [(slot_id, number) for slot_id, number, _ in rows], bool(rows and rows[0][2])
    [[idle]] = execute(f"SELECT {slots.is_idle(d)}", asked).rows
    return execute(slots.choose_slots(d, served), asked).rows, bool(idle)


def send(queue_id: int, queue: str, slots: list[tuple[int, int]], channel: str) -> None:
    """Send one message per slot; one that is still there stays, so that they never pile up."""
    if is_silent():
        return
    redis = client()
    doorbells = doorbell_queue(redis, channel)
    with redis.pipeline(transaction=False) as pipeline:
        for slot in slots:
            put(pipeline, doorbells, queue_id, queue, slot)
        # The bells of a station that never comes back leave nothing behind.
        pipeline.expire(doorbells.key, MESSAGE_SECONDS)
        pipeline.publish(RUNG, "")
        pipeline.execute()


_silent: list[bool] = []


@contextmanager
def silence() -> Iterator[None]:
    """Send nothing to Redis: where no worker listens, as in tests, nobody has to answer."""
    _silent.append(True)
    try:
        yield
    finally:
        _silent.pop()


def is_silent() -> bool:
    return bool(_silent)


def client() -> Redis:
    """Return the client of this process; a forked child makes its own."""
    pid = os.getpid()
    if pid not in _clients:
        _clients.clear()
        _clients[pid] = connection(ANSWER_SECONDS)
    return _clients[pid]


def hang_up() -> None:
    """Close the connections of this process; the next bell makes new ones."""
    if (redis := _clients.get(os.getpid())) is not None:
        redis.connection_pool.disconnect()
