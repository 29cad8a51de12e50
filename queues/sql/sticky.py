"""Statements for sticky jobs. A job starts at its station only while its key is allocated there.

The placement is locked while its job is reserved: a key that moves does so before, and then the
job is not found here, or after, and then its new instance sees that the job is held.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import CALLBACK, RANKS, STICKY
from queues.sql import reserve as sql

STICKY_COLUMNS = ["sticky_key", "routed_to", "routed_epoch"]

WAITING = (
    "{job}.status = 'pending' AND {job}.slot_id IS NULL AND {job}.sticky_key IS NOT NULL "
    "AND {job}.routed_to"
)

# No other instance runs, or is about to run, a job of the same key. Not EXISTS, which PostgreSQL
# would turn into a join and begin wherever it likes, not with the first job of the station.
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
    """A condition with the instance as its parameter."""
    return (
        f"EXISTS (SELECT 1 FROM queues_station WHERE instance_id = %s AND served_until > {d.now})"
    )


def probe(d: Dialect, rank: int, tail: str, station: str = "%s", queue: str = "%s") -> str:
    """The first due jobs of one rank at a station. Parameters: station, queue."""
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
    found = (f"SELECT id FROM ({probe(d, rank, 'LIMIT 1', station, queue)}) p" for rank in RANKS)
    return "(" + " OR ".join(f"({each}) IS NOT NULL" for each in found) + ")"


@cache
def reserve(d: Dialect, shared: bool) -> str:
    """As sql.reserve: callbacks, the station's own jobs, and those that any worker may run."""
    ranks = (
        f"SELECT id FROM ({_of_rank(d, rank, shared)}) r{number}"
        for number, rank in enumerate(RANKS)
    )
    picked = " UNION ALL ".join([sql.picked(d, [CALLBACK]), *ranks])
    return sql.reserving(d, picked, [*sql.RESERVED, *STICKY_COLUMNS])


def _of_rank(d: Dialect, rank: int, shared: bool) -> str:
    lock = "FOR UPDATE OF j SKIP LOCKED" if d.lock else ""
    own = f"SELECT id, due_at FROM ({probe(d, rank, f'LIMIT %s {lock}')}) own{rank + STICKY}"
    if not shared:
        return own
    others = sql.due_probe(d, rank, "id, due_at", f"LIMIT %s {d.lock}")
    both = f"{own} UNION ALL SELECT id, due_at FROM ({others}) any{rank + STICKY}"
    return f"{both} ORDER BY due_at, id LIMIT %s"


def parameters(station: str, queue_id: int, count: int, shared: bool) -> list[int | str]:
    """Of `picked` in reserve."""
    own: list[int | str] = [station, queue_id, count]
    each = [*own, queue_id, count, count] if shared else own
    return [queue_id, count, *each * len(RANKS)]


@cache
def free_slots(d: Dialect, shared: bool) -> str:
    """One free slot of each active queue with work for a station. Parameters: station, often."""
    work = f"({sql.ACTIVE} AND {has_due(d, '%s', 'q.id')})"
    work = f"({work} OR {sql.has_work(d)})" if shared else work
    return f"""
        SELECT q.name, min(s.number) FROM queues_queue q JOIN queues_slot s ON s.queue_id = q.id
        WHERE {work}
        AND s.holder = '' AND s.number < q.max_workers
        GROUP BY q.id, q.name ORDER BY q.id"""


@cache
def calls(d: Dialect, queue: str = "TRUE") -> str:
    """Active queues with work for stations that are served: queue, its name, station."""
    return f"""
        SELECT q.id, q.name, s.instance_id FROM queues_queue q CROSS JOIN queues_station s
        WHERE {sql.ACTIVE} AND s.served_until > {d.now}
        AND {queue} AND {has_due(d, "s.instance_id", "q.id")}"""


@cache
def send(d: Dialect) -> str:
    """Route waiting jobs to where their keys are allocated now. Parameters: ids."""
    ids = "= ANY(%s)" if d.vendor == "postgresql" else "IN (SELECT value FROM json_each(%s))"
    return f"""
        UPDATE queues_queuedjob SET routed_to = a.instance_id, routed_epoch = a.epoch
        FROM allocation_allocation a
        WHERE a.job_id = queues_queuedjob.sticky_key AND queues_queuedjob.id {ids}
        AND queues_queuedjob.status = 'pending' AND queues_queuedjob.slot_id IS NULL
        RETURNING queues_queuedjob.id, queues_queuedjob.routed_to"""


@cache
def astray(d: Dialect) -> str:
    """Waiting jobs whose key has moved or left since they were routed. Parameters: limit."""
    return f"""
        SELECT j.id, j.sticky_key, j.routed_to FROM queues_queuedjob j
        WHERE {WAITING.format(job="j")} IS NOT NULL AND NOT EXISTS ({PLACED_HERE})
        LIMIT %s"""
