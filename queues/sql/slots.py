"""The statements of slots: ring, take, renew, release.

`ring_again_seconds` and `message_seconds` are negative: they reach back from now.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.sql import reserve


def may_be_rung(d: Dialect, *, limit: bool = True) -> str:
    """A condition: slot s of queue q is free, and nobody was called to it a moment ago."""
    rung = f"(s.rung_at IS NULL OR s.rung_at < {d.in_seconds('ring_again_seconds')})"
    return f"s.holder = '' AND {rung}" + (" AND s.number < q.max_workers" if limit else "")


@cache
def choose_slots(d: Dialect, condition: str = "TRUE") -> str:
    """Mark free slots of a queue as rung, and return them."""
    # An array is read once; a join would be free to choose again for every slot.
    begin, end = ("= ANY(ARRAY(", "))") if d.lock else ("IN (", ")")
    return f"""
        UPDATE queues_slot SET rung_at = {d.now} WHERE id {begin}
            SELECT s.id FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
            WHERE s.queue_id = %(queue_id)s AND {may_be_rung(d)}
            AND {reserve.is_open(d)} AND {condition}
            ORDER BY s.number LIMIT %(slots)s {d.lock and "FOR UPDATE OF s SKIP LOCKED"}
        {end} RETURNING id, number"""  # nosec B608 # of constants and dialect


@cache
def is_idle(d: Dialect) -> str:
    """A condition: nobody is on the way to this queue."""
    return f"""
        NOT EXISTS (
            SELECT 1 FROM queues_slot r
            WHERE r.rung_at > {d.in_seconds("message_seconds")} AND r.holder = ''
            AND r.queue_id = %(queue_id)s
        )"""  # nosec B608 # of constants and dialect


@cache
def choose_slots_and_tell(d: Dialect, condition: str = "TRUE") -> str:
    """Also tell whether the queue was idle before; PostgreSQL only."""
    return f"""
        WITH rung AS ({choose_slots(d, condition)})
        SELECT rung.id, rung.number, {is_idle(d)} FROM rung ORDER BY rung.number"""  # nosec B608 # of constants and dialect


@cache
def acquire(d: Dialect) -> str:
    """Take a free slot. While slots above a lowered limit still run, none below it is taken.

    The share lock orders this against a change of the limit: without it, a slot taken under
    the old limit might not be seen yet.
    """
    share = "FOR SHARE" if d.vendor == "postgresql" else ""
    free = "queue_id = (SELECT id FROM q) AND number = %(number)s AND holder = ''"
    return f"""
        WITH q AS (
            SELECT q.id, q.max_workers FROM queues_queue q
            WHERE q.name = %(queue)s AND {reserve.is_open(d)} {share}
        )
        UPDATE queues_slot SET holder = %(holder)s, notes_key = %(notes_key)s,
            epoch = epoch + 1, rung_at = NULL,
            leased_until = {d.in_seconds("lease_seconds")}
        WHERE {_alone(d, free)}
        AND number < (SELECT max_workers FROM q)
        AND NOT EXISTS (
            SELECT 1 FROM queues_slot above WHERE above.queue_id = (SELECT id FROM q)
            AND above.number >= (SELECT max_workers FROM q) AND above.holder <> ''
        )
        RETURNING id, epoch, queue_id,
            EXISTS (SELECT 1 FROM queues_gate g WHERE g.queue_id = queues_slot.queue_id)"""  # nosec B608 # of constants and dialect


# A bell was answered, and the slot could not be taken.
UNRING = """
    UPDATE queues_slot SET rung_at = NULL
    WHERE queue_id = (SELECT id FROM queues_queue WHERE name = %(queue)s)
    AND number = %(number)s AND holder = '' AND rung_at IS NOT NULL"""


@cache
def renew(d: Dialect) -> str:
    return f"""
        UPDATE queues_slot SET leased_until = {d.in_seconds("lease_seconds")}
        WHERE id = %(slot_id)s AND epoch = %(epoch)s AND leased_until > {d.now}"""  # nosec B608 # of constants and dialect


@cache
def release(d: Dialect) -> str:
    return _releasing(_alone(d, "id = %(slot_id)s AND epoch = %(epoch)s AND holder <> ''"))


@cache
def release_with_results(d: Dialect) -> str:
    """Leave a slot in the statement that stores its last results; not one that is watched.

    Nobody should wait for these results because a push is not committed yet.
    """
    ours = f"id = %(slot_id)s AND epoch = %(epoch)s AND holder <> '' AND leased_until > {d.now}"
    return _releasing(_alone(d, ours, watched="SKIP LOCKED"))


def _releasing(condition: str) -> str:
    return f"""
        UPDATE queues_slot SET holder = '', leased_until = NULL, rung_at = NULL
        WHERE {condition}"""  # nosec B608 # of constants and dialect


@cache
def watch(d: Dialect, condition: str) -> str:
    """Return a slot that is held or rung, and stays so until this transaction ends: see _alone.

    So whoever takes or leaves it looks for jobs afterwards, and finds what is pushed here. A
    slot that was freed since the statement began is not returned.
    """
    return f"""
        SELECT s.id FROM queues_slot s
        WHERE s.queue_id = %(queue_id)s AND {condition}
        AND (s.holder <> '' OR s.rung_at > {d.in_seconds("ring_again_seconds")})
        LIMIT 1 FOR KEY SHARE"""  # nosec B608 # of constants and dialect


def _alone(d: Dialect, condition: str, *, watched: str = "") -> str:
    """Select the slot of this condition once nobody watches it; renewals do not wait."""
    if not d.lock:
        return condition
    return f"id = (SELECT id FROM queues_slot WHERE {condition} FOR UPDATE {watched})"  # nosec B608 # of constants and dialect
