"""The statements of sticky jobs. A job starts at its station only while its key is allocated there.

The placement is locked while its job is reserved. If the key moves before, the job is not probed
here; if it moves afterwards, its new instance sees that the job is held. Of the jobs of one key and
queue only the one with the turn has a rank that is asked for: see queues.sql.turns.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import (
    CALLBACK,
    FLOW_RANKS,
    INTO_FLOW,
    PAUSED,
    RANKS,
    STICKY,
    STICKY_RANKS,
)
from queues.sql import reserve as sql

STATION = "%(station)s"
STICKY_COLUMNS = ["sticky_key", "routed_to", "routed_epoch", "concurrent"]
FLOW_COLUMNS = ["flow_id", "flow_key", "limits"]

WAITING = (
    "{job}.status = 'pending' AND {job}.slot_id IS NULL AND {job}.sticky_key IS NOT NULL "
    "AND {job}.routed_to"
)

# No other instance runs, or is about to run, a job of the same key, nor does another queue unless
# one of the two jobs is concurrent. It does not use EXISTS, which PostgreSQL would turn into a join
# that need not begin with the first job of the station.
ALONE = """
    (
        SELECT 1 FROM queues_queuedjob held WHERE held.sticky_key = j.sticky_key
        AND held.slot_id > 0
        AND (held.routed_to <> j.routed_to OR NOT (held.concurrent OR j.concurrent)) LIMIT 1
    ) IS NULL"""

# What takes a waiting job out of the flow of a station: its rank, and the flow.
OUT_OF_FLOW = (
    f"rank = CASE WHEN flow_id IS NULL THEN rank ELSE rank - {INTO_FLOW} END, flow_id = NULL"
)

PLACED_HERE = """
    SELECT 1 FROM allocation_allocation a WHERE a.job_id = j.sticky_key
    AND a.instance_id = j.routed_to AND a.epoch = j.routed_epoch"""


@cache
def is_served(d: Dialect) -> str:
    """A condition: a worker serves this station."""
    served = f"instance_id = {STATION} AND served_until > {d.now}"
    return f"EXISTS (SELECT 1 FROM queues_station WHERE {served})"  # nosec B608 # of constants and dialect


def probe(d: Dialect, rank: int, tail: str, station: str = STATION, queue: str = sql.QUEUE) -> str:
    """Select the first due jobs of one rank at a station."""
    locking = "FOR" in tail
    # A lateral query with a lock of its own is always looked up job by job, in their order.
    source = f", LATERAL ({PLACED_HERE} FOR SHARE SKIP LOCKED) placed" if locking else ""
    placed = "" if locking else f"AND ({PLACED_HERE}) IS NOT NULL"
    return f"""
        SELECT j.id, j.due_at FROM queues_queuedjob j{source}
        WHERE j.routed_to = {station} AND j.queue_id = {queue} AND j.rank = {rank + STICKY}
        AND {WAITING.format(job="j")} IS NOT NULL AND j.due_at <= {d.now} AND {ALONE} {placed}
        ORDER BY j.due_at, j.id {tail}"""  # nosec B608 # of constants and dialect


@cache
def has_due(d: Dialect, station: str, queue: str) -> str:
    """A condition: this station has a sticky job of this queue to start."""
    probes = (f"SELECT id FROM ({probe(d, rank, 'LIMIT 1', station, queue)}) p" for rank in RANKS)  # nosec B608 # of constants and dialect
    ranks = [f"({each}) IS NOT NULL" for each in probes]
    return "(" + " OR ".join([*ranks, sql.has_open_flow(d, queue, station)]) + ")"


@cache
def first_due(d: Dialect, ranks: tuple[int, ...]) -> str:
    """Select the job of these ranks that is the next to start at a station."""
    return sql.first_of([probe(d, rank, "LIMIT 1") for rank in ranks])


@cache
def reserve(d: Dialect, shared: bool) -> str:
    """Reserve callbacks, the station's own jobs and, if `shared`, those that any worker may run."""
    ranks = (
        f"SELECT id FROM ({_of_rank(d, rank, shared)}) r{number}"  # nosec B608 # of constants and dialect
        for number, rank in enumerate(RANKS)
    )
    picked = " UNION ALL ".join([sql.picked(d, [CALLBACK]), *ranks])
    return sql.reserving(d, picked, [*sql.RESERVED, *STICKY_COLUMNS, *FLOW_COLUMNS])


def _of_rank(d: Dialect, rank: int, shared: bool) -> str:
    lock = "FOR UPDATE OF j SKIP LOCKED" if d.lock else ""
    own = f"SELECT id, due_at FROM ({probe(d, rank, f'LIMIT %(jobs)s {lock}')}) own{rank + STICKY}"  # nosec B608 # of constants and dialect
    if not shared:
        return own
    others = sql.due_probe(d, rank, "id, due_at", f"LIMIT %(jobs)s {d.lock}")
    both = f"{own} UNION ALL SELECT id, due_at FROM ({others}) any{rank + STICKY}"  # nosec B608 # of constants and dialect
    return f"{both} ORDER BY due_at, id LIMIT %(jobs)s"


@cache
def who_has_work(d: Dialect) -> str:
    """Select the served stations with work of a queue; an empty name stands for any worker."""
    return f"""
        SELECT '' WHERE {sql.has_due(d)}
        UNION ALL
        SELECT s.instance_id FROM queues_queue q CROSS JOIN queues_station s
        WHERE {sql.ACTIVE} AND s.served_until > {d.now}
        AND q.id = {sql.QUEUE} AND {has_due(d, "s.instance_id", "q.id")}"""  # nosec B608 # of constants and dialect


@cache
def route(d: Dialect) -> str:
    """Route waiting jobs to where their keys are allocated now. A flow there finds them anew."""
    return f"""
        UPDATE queues_queuedjob SET routed_to = a.instance_id, routed_epoch = a.epoch,
            {OUT_OF_FLOW}
        FROM allocation_allocation a
        WHERE a.job_id = queues_queuedjob.sticky_key AND queues_queuedjob.id {d.among("ids")}
        AND queues_queuedjob.status = 'pending' AND queues_queuedjob.slot_id IS NULL
        RETURNING queues_queuedjob.id, queues_queuedjob.routed_to"""  # nosec B608 # of constants and dialect


@cache
def misrouted(d: Dialect, *, in_line: bool) -> str:
    """Select waiting jobs whose key has moved or left since they were routed."""
    awake = [*STICKY_RANKS, *FLOW_RANKS]
    ranks = ", ".join(str(rank + PAUSED * paused) for rank in awake for paused in (0, 1))
    return f"""
        SELECT j.id, j.sticky_key, j.routed_to FROM queues_queuedjob j
        WHERE {WAITING.format(job="j")} IS NOT NULL AND NOT EXISTS ({PLACED_HERE})
        AND j.rank {"NOT" if in_line else ""} IN ({ranks})
        LIMIT %(limit)s"""  # nosec B608 # of constants and dialect
