"""The statements of slots: ring, take, renew, release."""

from functools import cache

from atributo_site.core.database import Dialect
from queues.sql import reserve


@cache
def choose_slots(d: Dialect, condition: str = "TRUE") -> str:
    """Mark free slots of a queue as rung. Parameters: re-ring seconds, queue, limit."""
    # An array is read once; a join would be free to choose again for every slot.
    begin, end = ("= ANY(ARRAY(", "))") if d.lock else ("IN (", ")")
    return f"""
        UPDATE queues_slot SET rung_at = {d.now} WHERE id {begin}
            SELECT s.id FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
            WHERE s.holder = '' AND (s.rung_at IS NULL OR s.rung_at < {d.later})
            AND s.queue_id = %s AND s.number < q.max_workers
            AND {reserve.is_open(d)} AND {condition}
            ORDER BY s.number LIMIT %s {d.lock and "FOR UPDATE OF s SKIP LOCKED"}
        {end} RETURNING id, number"""


@cache
def is_idle(d: Dialect) -> str:
    """A condition: nobody is on the way to this queue. Parameters: seconds, queue."""
    return f"""
        NOT EXISTS (
            SELECT 1 FROM queues_slot r WHERE r.rung_at > {d.later} AND r.holder = ''
            AND r.queue_id = %s
        )"""


@cache
def choose_slots_and_tell(d: Dialect, condition: str = "TRUE") -> str:
    """On PostgreSQL: also whether the queue was idle before. Parameters: those of both."""
    return f"""
        WITH rung AS ({choose_slots(d, condition)})
        SELECT rung.id, rung.number, {is_idle(d)} FROM rung ORDER BY rung.number"""


@cache
def acquire(d: Dialect) -> str:
    """Take a free slot. While slots above a lowered limit still run, none below it is taken.

    The share lock orders this against a change of the limit: without it, a slot taken under
    the old limit might not be seen yet. Parameters: queue name, holder, key of its notes, lease
    seconds, number.
    """
    share = "FOR SHARE" if d.vendor == "postgresql" else ""
    return f"""
        WITH q AS (
            SELECT q.id, q.max_workers FROM queues_queue q
            WHERE q.name = %s AND {reserve.is_open(d)} {share}
        )
        UPDATE queues_slot SET holder = %s, notes_key = %s, epoch = epoch + 1, rung_at = NULL,
            leased_until = {d.later}
        WHERE {_alone(d, "queue_id = (SELECT id FROM q) AND number = %s AND holder = ''")}
        AND number < (SELECT max_workers FROM q)
        AND NOT EXISTS (
            SELECT 1 FROM queues_slot above WHERE above.queue_id = (SELECT id FROM q)
            AND above.number >= (SELECT max_workers FROM q) AND above.holder <> ''
        )
        RETURNING id, epoch, queue_id"""


@cache
def unring(d: Dialect) -> str:
    """A bell was answered, and the slot could not be taken. Parameters: queue name, number."""
    return """
        UPDATE queues_slot SET rung_at = NULL
        WHERE queue_id = (SELECT id FROM queues_queue WHERE name = %s)
        AND number = %s AND holder = '' AND rung_at IS NOT NULL"""


@cache
def renew(d: Dialect) -> str:
    """Parameters: lease seconds, slot, epoch."""
    return f"""
        UPDATE queues_slot SET leased_until = {d.later}
        WHERE id = %s AND epoch = %s AND leased_until > {d.now}"""


@cache
def release(d: Dialect) -> str:
    """Parameters: slot, epoch."""
    return f"""
        UPDATE queues_slot SET holder = '', leased_until = NULL, rung_at = NULL
        WHERE {_alone(d, "id = %s AND epoch = %s AND holder <> ''")}"""


@cache
def watch(d: Dialect, condition: str) -> str:
    """A slot that is held or rung, and stays so until this transaction ends: see _alone.

    So whoever takes or leaves it looks for jobs afterwards, and finds what is pushed here. A
    slot that was freed since the statement began is not returned. Parameters: queue, re-ring
    seconds.
    """
    return f"""
        SELECT s.id FROM queues_slot s
        WHERE s.queue_id = %s AND (s.holder <> '' OR s.rung_at > {d.later}) AND {condition}
        LIMIT 1 FOR KEY SHARE"""


def _alone(d: Dialect, condition: str) -> str:
    """The slot of this condition, once nobody watches it any more; renewals do not wait."""
    if not d.lock:
        return condition
    return f"id = (SELECT id FROM queues_slot WHERE {condition} FOR UPDATE)"
