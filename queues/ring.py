"""Ring: call a worker to a free slot of a queue that has work."""

import os

import structlog
from redis import Redis
from redis.exceptions import RedisError
from rq.job import Job
from rq.serializers import JSONSerializer

from queues import slot_sql, station_sql
from queues.dialect import dialect
from queues.doorbell import CHANNEL, ENTRY, DoorbellJob, channel_of, connection, doorbell_queue
from queues.slots import HeldSlot
from queues.statements import hot_cursor

log = structlog.get_logger(__name__)

RING_AGAIN_SECONDS = 2.0  # a bell that nobody answered may have been lost with Redis
ANSWER_SECONDS = 0.5
MESSAGE_SECONDS = 60
_clients: dict[int, Redis] = {}


def ring(
    queue_id: int, queue: str, jobs: int = 1, *, station: str = "", using: str = "default"
) -> int:
    """Call for up to `jobs` free slots, at a station if it is named; how many bells rang."""
    slots = _chosen(queue_id, jobs, station, using)
    return call(queue, slots, station) if slots else 0


def call(queue: str, slots: list[tuple[int, int]], station: str = "") -> int:
    """Send the bells of slots that are marked as rung; how many."""
    try:
        send(queue, slots, station)
    except RedisError as error:  # the sweep rings again, and workers look by themselves
        log.warning("bell_not_sent", queue=queue, error=str(error))
        return 0
    return len(slots)


def call_any(slot: HeldSlot) -> None:
    """Somebody else may do what the holder of this slot leaves."""
    ring(slot.queue_id, slot.queue, using=slot.using)


def _chosen(queue_id: int, jobs: int, station: str, using: str) -> list[tuple[int, int]]:
    d = dialect(using)
    ago = d.seconds(-RING_AGAIN_SECONDS)
    with hot_cursor(using) as cursor:
        if station:  # a bell that nobody hears would keep the slot from others
            parameters = [ago, queue_id, station, max(1, jobs)]
            cursor.execute(slot_sql.choose_slots(d, station_sql.is_served(d)), parameters)
        else:
            cursor.execute(slot_sql.choose_slots(d), [ago, queue_id, max(1, jobs)])
        return cursor.fetchall()


def send(queue: str, slots: list[tuple[int, int]], station: str = "") -> None:
    """One message per slot; one that is still there is replaced, so that they never pile up."""
    redis = client()
    doorbells = doorbell_queue(redis, channel_of(station))
    # Not enqueue(): it asks Redis about dependencies first.
    with redis.pipeline(transaction=False) as pipeline:
        for slot_id, number in slots:
            message = _message(redis, queue, slot_id, number, doorbells.name)
            pipeline.lrem(doorbells.key, 0, message.id)
            message.save(pipeline=pipeline)
            doorbells.push_job_id(message.id, pipeline=pipeline)
            pipeline.expire(message.key, MESSAGE_SECONDS)
        if station:  # one that never comes back leaves nothing behind
            pipeline.expire(doorbells.key, MESSAGE_SECONDS)
        pipeline.execute()


def _message(redis: Redis, queue: str, slot_id: int, number: int, channel: str) -> Job:
    return DoorbellJob.create(
        ENTRY,
        args=[queue, number],
        id=f"slot-{slot_id}" if channel == CHANNEL else f"slot-{slot_id}-{channel}",
        connection=redis,
        serializer=JSONSerializer,
        description="bell",
        result_ttl=0,
    )


def client() -> Redis:
    """One connection pool for the process, which a forked child does not share."""
    pid = os.getpid()
    if pid not in _clients:
        _clients.clear()
        _clients[pid] = connection(ANSWER_SECONDS)
    return _clients[pid]


def hang_up() -> None:
    """Close the connections of this process; the next bell makes new ones."""
    if (redis := _clients.get(os.getpid())) is not None:
        redis.connection_pool.disconnect()
