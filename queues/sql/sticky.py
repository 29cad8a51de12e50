"""The statements of sticky jobs. A job starts at its station only while its key is allocated there.

The placement is locked while its job is reserved. If the key moves before, the job is not probes
here; if it moves afterwards, its new instance sees that the job is held.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import CALLBACK, RANKS, STICKY
from queues.sql import reserve as sql

STATION = "%(station)s"
STICKY_COLUMNS = ["sticky_key", "routed_to", "routed_epoch"]

WAITING = (
    "{job}.status = 'pending' AND {job}.slot_id IS NULL AND {job}.sticky_key IS NOT NULL "
    "AND {job}.routed_to"
)

# No other instance runs, or is about to run, a job of the same key. It does not use EXISTS, which
# PostgreSQL would turn into a join that need not begin with the first job of the station.
ALONE = """
    (
        SELECT 1 FROM queues_queuedjob held WHERE held.sticky_key = j.sticky_key
        AND held.slot_id > 0 AND held.routed_to <> j.routed_to LIMIT 1
    ) IS NULL"""

PLACED_HERE = """
    SELECT 1 FROM allocation_allocation a WHERE a.job_id = j.sticky_key
    AND a.instance_id = j.routed_to AND a.epoch = j.routed_epoch"""


@cache
def is_served(d: Dialect) -> str:
    """A condition: a worker serves this station."""
    served = f"instance_id = {STATION} AND served_until > {d.now}"
    return f"EXISTS (SELECT 1 FROM queues_station WHERE {served})"


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
        ORDER BY j.due_at, j.id {tail}"""


@cache
def has_due(d: Dialect, station: str, queue: str) -> str:
    """A condition: this station has a sticky job of this queue to start."""
    probes = (f"SELECT id FROM ({probe(d, rank, 'LIMIT 1', station, queue)}) p" for rank in RANKS)
    return "(" + " OR ".join(f"({each}) IS NOT NULL" for each in probes) + ")"


@cache
def first_due(d: Dialect, ranks: tuple[int, ...]) -> str:
    """Select the job of these ranks that is the next to start at a station."""
    return sql.first_of([probe(d, rank, "LIMIT 1") for rank in ranks])


@cache
def reserve(d: Dialect, shared: bool) -> str:
    """Reserve callbacks, the station's own jobs and, if `shared`, those that any worker may run."""
    ranks = (
        f"SELECT id FROM ({_of_rank(d, rank, shared)}) r{number}"
        for number, rank in enumerate(RANKS)
    )
    picked = " UNION ALL ".join([sql.picked(d, [CALLBACK]), *ranks])
    return sql.reserving(d, picked, [*sql.RESERVED, *STICKY_COLUMNS])


def _of_rank(d: Dialect, rank: int, shared: bool) -> str:
    lock = "FOR UPDATE OF j SKIP LOCKED" if d.lock else ""
    own = f"SELECT id, due_at FROM ({probe(d, rank, f'LIMIT %(jobs)s {lock}')}) own{rank + STICKY}"
    if not shared:
        return own
    others = sql.due_probe(d, rank, "id, due_at", f"LIMIT %(jobs)s {d.lock}")
    both = f"{own} UNION ALL SELECT id, due_at FROM ({others}) any{rank + STICKY}"
    return f"{both} ORDER BY due_at, id LIMIT %(jobs)s"


@cache
def free_slots(d: Dialect, shared: bool) -> str:
    """Select one free slot of each active queue with work for a station."""
    work = f"({sql.ACTIVE} AND {has_due(d, STATION, 'q.id')})"
    work = f"({work} OR {sql.has_work(d)})" if shared else work
    return f"""
        SELECT q.name, min(s.number) FROM queues_queue q JOIN queues_slot s ON s.queue_id = q.id
        WHERE {work}
        AND s.holder = '' AND s.number < q.max_workers
        GROUP BY q.id, q.name ORDER BY q.id"""


@cache
def calls(d: Dialect, queue: str = "TRUE") -> str:
    """Select active queues with work for stations that are served: queue, its name, station."""
    return f"""
        SELECT q.id, q.name, s.instance_id FROM queues_queue q CROSS JOIN queues_station s
        WHERE {sql.ACTIVE} AND s.served_until > {d.now}
        AND {queue} AND {has_due(d, "s.instance_id", "q.id")}"""


@cache
def route(d: Dialect) -> str:
    """Route waiting jobs to where their keys are allocated now."""
    listed = "= ANY(%(ids)s)" if d.lock else "IN (SELECT value FROM json_each(%(ids)s))"
    return f"""
        UPDATE queues_queuedjob SET routed_to = a.instance_id, routed_epoch = a.epoch
        FROM allocation_allocation a
        WHERE a.job_id = queues_queuedjob.sticky_key AND queues_queuedjob.id {listed}
        AND queues_queuedjob.status = 'pending' AND queues_queuedjob.slot_id IS NULL
        RETURNING queues_queuedjob.id, queues_queuedjob.routed_to"""


@cache
def misrouted(d: Dialect) -> str:
    """Select waiting jobs whose key has moved or left since they were routed."""
    return f"""
        SELECT j.id, j.sticky_key, j.routed_to FROM queues_queuedjob j
        WHERE {WAITING.format(job="j")} IS NOT NULL AND NOT EXISTS ({PLACED_HERE})
        LIMIT %(limit)s"""
