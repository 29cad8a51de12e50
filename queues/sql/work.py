"""Find work in all queues at once.

Each statement begins with the queues that have waiting jobs at all: one step into the index of
waiting jobs leads from each of them to the next. Queues without waiting jobs cost nothing, however
many there are.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import CALLBACK
from queues.sql import reserve, slots, sticky

NEXT = """
    SELECT queue_id FROM queues_queuedjob WHERE status = 'pending' AND slot_id IS NULL {beyond}
    ORDER BY queue_id LIMIT 1"""

FILLED = f"""
    WITH RECURSIVE filled(id) AS (
        SELECT queue_id FROM ({NEXT.format(beyond="")}) first_queue
        UNION ALL
        SELECT ({NEXT.format(beyond="AND queues_queuedjob.queue_id > filled.id")}) FROM filled
        WHERE filled.id IS NOT NULL
    )"""  # nosec B608 # of constants and dialect


@cache
def queues_to_ring(d: Dialect) -> str:
    """Select queues with a due job for any worker and a free slot that was not rung just now."""
    return f"""
        {FILLED} SELECT q.id, q.name, q.max_workers
        FROM filled JOIN queues_queue q ON q.id = filled.id
        WHERE {_has_work(d)} AND EXISTS (
            SELECT 1 FROM queues_slot s WHERE s.queue_id = q.id AND {slots.may_be_rung(d)}
        ) ORDER BY q.id"""  # nosec B608 # of constants and dialect


@cache
def slots_to_ring(d: Dialect) -> str:
    """Select the slots of queues that have just one: queue, its name, whether idle, slot."""
    idle = f"(s.rung_at IS NULL OR s.rung_at <= {d.in_seconds('message_seconds')})"
    return f"""
        SELECT q.id, q.name, {idle}, s.id FROM queues_slot s
        JOIN queues_queue q ON q.id = s.queue_id
        WHERE q.id {d.among("ids")} AND s.number = 0 AND {slots.may_be_rung(d)} ORDER BY q.id"""  # nosec B608 # of constants and dialect


@cache
def mark_as_rung(d: Dialect) -> str:
    free = f"s.id {d.among('ids')} AND {slots.may_be_rung(d, limit=False)}"
    lock = "FOR UPDATE OF s SKIP LOCKED" if d.lock else ""
    return f"""
        UPDATE queues_slot SET rung_at = {d.now}
        WHERE id IN (SELECT s.id FROM queues_slot s WHERE {free} {lock}) RETURNING id"""  # nosec B608 # of constants and dialect


@cache
def free_slots(d: Dialect) -> str:
    """Select one free slot of each queue with work for any worker."""
    return _first_free(_has_work(d))


@cache
def free_slots_at(d: Dialect, shared: bool) -> str:
    """Select one free slot of each queue with work for a station."""
    own = f"({reserve.ACTIVE} AND {sticky.has_due(d, sticky.STATION, 'q.id')})"
    return _first_free(f"({own} OR {_has_work(d)})" if shared else own)


@cache
def calls(d: Dialect) -> str:
    """Select queues with work for stations that are served: queue, its name, station."""
    waiting = f"SELECT 1 FROM queues_queuedjob j WHERE {sticky.WAITING.format(job='j')}"  # nosec B608 # of constants and dialect
    return f"""
        {FILLED} SELECT q.id, q.name, s.instance_id FROM queues_station s
        CROSS JOIN filled JOIN queues_queue q ON q.id = filled.id
        WHERE s.served_until > {d.now} AND ({waiting} = s.instance_id LIMIT 1) IS NOT NULL
        AND {reserve.ACTIVE} AND {sticky.has_due(d, "s.instance_id", "q.id")}"""  # nosec B608 # of constants and dialect


def _has_work(d: Dialect) -> str:
    """A condition: queue q has a job that may start now. A callback may start in any queue."""
    callback = reserve.has_rank(d, CALLBACK, "q.id")
    return f"({callback} OR ({reserve.ACTIVE} AND {reserve.has_due(d, 'q.id')}))"


def _first_free(work: str) -> str:
    return f"""
        {FILLED} SELECT q.name, min(s.number) FROM filled JOIN queues_queue q ON q.id = filled.id
        JOIN queues_slot s ON s.queue_id = q.id
        WHERE {work} AND s.holder = '' AND s.number < q.max_workers
        GROUP BY q.id, q.name ORDER BY q.id"""  # nosec B608 # of constants and dialect
