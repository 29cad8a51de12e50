"""Ring: call a worker to a free slot of a queue that has work."""

import os

import structlog
from redis import Redis
from redis.exceptions import RedisError

from queues import slot_sql, station_sql
from queues.dialect import Dialect, dialect
from queues.doorbell import MESSAGE_SECONDS, channel_of, connection, doorbell_queue, put
from queues.slots import HeldSlot
from queues.statements import hot_cursor

log = structlog.get_logger(__name__)

RING_AGAIN_SECONDS = 2.0  # a bell that nobody answered may have been lost with Redis
ANSWER_SECONDS = 0.5
_clients: dict[int, Redis] = {}


def ring(
    queue_id: int,
    queue: str,
    jobs: int = 1,
    *,
    station: str = "",
    leftover: bool = False,
    using: str = "default",
) -> int:
    """Call for up to `jobs` free slots, at a station if it is named; how many bells rang.

    The bell of a queue that nobody was called to is a first one, unless it calls to the leftover
    of a time slice.
    """
    slots, idle = _chosen(queue_id, jobs, station, RING_AGAIN_SECONDS, using)
    first = idle and not leftover
    return call(queue_id, queue, slots, station=station, first=first) if slots else 0


def ring_ahead(queue_id: int, queue: str, *, station: str = "", using: str = "default") -> int:
    """Call at once, though the queue waits for its turn: its next job outranks the others."""
    slots, _ = _chosen(queue_id, 1, station, -MESSAGE_SECONDS, using)
    return call(queue_id, queue, slots, station=station, first=True) if slots else 0


def call(
    queue_id: int,
    queue: str,
    slots: list[tuple[int, int]],
    *,
    station: str = "",
    first: bool = False,
) -> int:
    """Send the bells of slots that are marked as rung; how many. At most one is a first one."""
    try:
        send(queue_id, queue, slots[:1], channel_of(station, first=first))
        if slots[1:]:
            send(queue_id, queue, slots[1:], channel_of(station))
    except RedisError as error:  # the sweep rings again, and workers look by themselves
        log.warning("bell_not_sent", queue=queue, error=str(error))
        return 0
    return len(slots)


def call_any(slot: HeldSlot) -> None:
    """Somebody else may do what the holder of this slot leaves."""
    ring(slot.queue_id, slot.queue, leftover=True, using=slot.using)


def _chosen(
    queue_id: int, jobs: int, station: str, again_seconds: float, using: str
) -> tuple[list[tuple[int, int]], bool]:
    """Free slots, marked as rung, and whether none of the queue was so before."""
    d = dialect(using)
    served, whose = (station_sql.is_served(d), [station]) if station else ("TRUE", [])
    chosen = [d.seconds(-again_seconds), queue_id, *whose, max(1, jobs)]
    asked = [d.seconds(-MESSAGE_SECONDS), queue_id]
    if d.vendor == "postgresql":
        return _chosen_at_once(d, served, [*chosen, *asked], using)
    with hot_cursor(using) as cursor:
        cursor.execute(f"SELECT {slot_sql.is_idle(d)}", asked)
        [idle] = cursor.fetchone()
        cursor.execute(slot_sql.choose_slots(d, served), chosen)
        return cursor.fetchall(), bool(idle)


def _chosen_at_once(
    d: Dialect, served: str, parameters: list[object], using: str
) -> tuple[list[tuple[int, int]], bool]:
    with hot_cursor(using) as cursor:
        cursor.execute(slot_sql.choose_slots_and_tell(d, served), parameters)
        rows = cursor.fetchall()
    return [(slot_id, number) for slot_id, number, _ in rows], bool(rows and rows[0][2])


def send(queue_id: int, queue: str, slots: list[tuple[int, int]], channel: str) -> None:
    """One message per slot; one that is still there stays, so that they never pile up."""
    redis = client()
    doorbells = doorbell_queue(redis, channel)
    with redis.pipeline(transaction=False) as pipeline:
        for slot in slots:
            put(pipeline, doorbells, queue_id, queue, slot)
        # The bells of a station that never comes back leave nothing behind.
        pipeline.expire(doorbells.key, MESSAGE_SECONDS)
        pipeline.execute()


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
