"""What waits in a queue, as parts of a query over queues_queue."""

from atributo_site.core.database import Dialect
from queues.logic.lateness import TARGET_AGE_SECONDS
from queues.sql.reserve import ALL_RANKS
from queues.sql.work import FILLED

COUNTED = 10_000  # beyond this, screens say "10,000+"

WAITING = "FROM queues_queuedjob j WHERE j.queue_id = queues_queue.id AND j.status = 'pending'"
FREE = f"{WAITING} AND j.slot_id IS NULL AND j.rank IN ({', '.join(map(str, ALL_RANKS))})"


def capped_count(condition: str) -> str:
    """Count no further than COUNTED; the ORM would count all of a million jobs."""
    some = f"SELECT 1 {FREE} AND {condition} LIMIT {COUNTED + 1}"
    return _if_filled(f"(SELECT COUNT(*) FROM ({some}) AS counted)", "0")  # nosec B608 # of constants and dialect


def first_due_at(rank: int) -> str:
    return _first("due_at", rank)


def first_routed_to(rank: int) -> str:
    """Name the instance of the sticky job that `first_due_at` finds."""
    return _first("routed_to", rank)


def _first(column: str, rank: int) -> str:
    """Step into the index of waiting jobs once."""
    return _if_filled(
        f"(SELECT j.{column} {WAITING} AND j.slot_id IS NULL AND j.rank = {rank} "
        "ORDER BY j.due_at LIMIT 1)"
    )


def _if_filled(value: str, otherwise: str = "NULL") -> str:
    """Ask no queue without waiting jobs: of a thousand, few have any."""
    filled = f"queues_queue.id IN ({FILLED} SELECT id FROM filled WHERE id IS NOT NULL)"  # nosec B608 # of constants and dialect
    return f"(CASE WHEN {filled} THEN {value} ELSE {otherwise} END)"


# The limit that holds jobs of a queue, in words, and how many of its flow keys wait for one.
WAITS_FOR = """COALESCE(
    (
        SELECT g.waits_for FROM queues_gate g
        WHERE g.queue_id = queues_queue.id AND g.closed_at IS NOT NULL
    ),
    (
        SELECT f.waits_for FROM queues_flow f WHERE f.queue_id = queues_queue.id
        AND NOT (f.waits_for = '') ORDER BY f.waits_since LIMIT 1
    ), '')"""
FLOWS_WAITING = """(
    SELECT COUNT(*) FROM (
        SELECT 1 FROM queues_flow f WHERE f.queue_id = queues_queue.id
        AND NOT (f.waits_for = '') LIMIT 1001
    ) waiting)"""


def has_late(d: Dialect) -> str:
    """A condition: some job was due so long ago that its queue is late.

    It steps into the index of waiting jobs once for each rank.
    """
    target = f"COALESCE(queues_queue.target_age_seconds, {TARGET_AGE_SECONDS})"
    limit = d.in_seconds("ago").replace("%(ago)s", f"(-{target})")
    steps = (
        f"(SELECT j.id {WAITING} AND j.slot_id IS NULL AND j.rank = {rank} "
        f"AND j.due_at < {limit} ORDER BY j.due_at LIMIT 1) IS NOT NULL"
        for rank in ALL_RANKS
    )
    return _if_filled(f"({' OR '.join(steps)})", "FALSE")
