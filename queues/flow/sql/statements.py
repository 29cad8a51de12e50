"""The statements of flow control. Those that decide run while the gate of their queue is locked.

A flow is found by its index of ready flows, and its jobs by the index of jobs that wait in it: no
statement reads more the more jobs wait.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import FLOW, FLOW_RANKS, RANKS
from queues.sql import reserve
from queues.sql.push import REVISION

WAITING = (
    "j.status = 'pending' AND j.slot_id IS NULL AND j.flow_id IS NOT NULL AND j.flow_id = {flow}"
)


def _ids(d: Dialect, parameter: str) -> str:
    if d.vendor == "postgresql":
        return f"= ANY(%({parameter})s::bigint[])"
    return f"IN (SELECT value FROM json_each(%({parameter})s))"  # nosec B608 # of constants and dialect


@cache
def lock_gate(d: Dialect) -> str:
    lock = "FOR UPDATE" if d.lock else ""
    return f"SELECT time FROM queues_gate WHERE queue_id = %(queue_id)s {lock}"  # nosec B608 # of constants and dialect


@cache
def lock_scripts(d: Dialect) -> str:
    """Lock the gates of these scripts, in one order for everybody."""
    listed = "= ANY(%(names)s::text[])" if d.lock else "IN (SELECT value FROM json_each(%(names)s))"
    lock = "FOR UPDATE" if d.lock else ""
    return f"SELECT name FROM queues_gate WHERE name {listed} ORDER BY name {lock}"  # nosec B608 # of constants and dialect


@cache
def held_slot(d: Dialect) -> str:
    """Select what a reservation must know of its queue while the slot is held and it is active."""
    return f"""
        SELECT q.limits, q.weights, {d.now}, {REVISION}, q.record_start
        FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
        WHERE s.id = %(slot_id)s AND s.epoch = %(epoch)s AND s.leased_until > {d.now}
        AND s.number < q.max_workers AND {reserve.ACTIVE} {d.lock and "FOR SHARE OF q"}"""  # nosec B608 # of constants and dialect


@cache
def ready_scripts(d: Dialect) -> str:
    """Walk over the scripts of a queue that have a ready flow: one step into the index for each."""
    following = (
        "SELECT f.id FROM queues_flow f WHERE f.queue_id = %(queue_id)s AND f.rank IS NOT NULL "
        "{beyond} ORDER BY f.mount, f.script LIMIT 1"
    )
    step = following.format(beyond="AND (f.mount, f.script) > (w.mount, w.script)")
    return f"""
        WITH RECURSIVE walk(id) AS (
            SELECT id FROM ({following.format(beyond="")}) first_one
            UNION ALL
            SELECT ({step}) FROM walk JOIN queues_flow w ON w.id = walk.id
        )
        SELECT f.mount, f.script FROM walk JOIN queues_flow f ON f.id = walk.id"""  # nosec B608 # of constants and dialect


READY = """
    SELECT id, key, time FROM queues_flow WHERE queue_id = %(queue_id)s AND mount = %(mount)s
    AND script = %(script)s AND rank IS NOT NULL ORDER BY rank, time, id LIMIT %(flows)s"""


def _first_jobs(d: Dialect, flow: str) -> str:
    probes = " UNION ALL ".join(
        f"SELECT * FROM (SELECT j.flow_id, j.id, j.rank, j.limits FROM queues_queuedjob j "
        f"WHERE {WAITING.format(flow=flow)} AND j.rank = {rank} AND j.due_at <= {d.now} "
        f"ORDER BY j.due_at, j.id LIMIT %(jobs)s) r{number}"  # nosec B608 # of constants and dialect
        for number, rank in enumerate(FLOW_RANKS)
    )
    return f"SELECT * FROM ({probes}) p LIMIT %(jobs)s"  # nosec B608 # of constants and dialect


@cache
def first_jobs(d: Dialect) -> str:
    """Select the first due jobs of one flow (SQLite), or of each of many (PostgreSQL)."""
    if d.vendor != "postgresql":
        return _first_jobs(d, "%(flow)s")
    return (
        "SELECT n.* FROM unnest(%(flows)s::bigint[]) WITH ORDINALITY AS f(id, number), "  # nosec B608 # of constants and dialect
        f"LATERAL ({_first_jobs(d, 'f.id')}) n ORDER BY f.number"
    )


@cache
def held(d: Dialect, *, everywhere: bool) -> str:
    """Count what is held, by what limits count: few rows, as only slots hold jobs."""
    where = "" if everywhere else "AND queue_id = %(queue_id)s"
    return f"""
        SELECT queue_id, COALESCE(flow_key, ''), mount, script, COALESCE(ran_on, ''), count(*)
        FROM queues_queuedjob WHERE slot_id > 0 AND COALESCE(parent, 0) = 0 {where}
        GROUP BY 1, 2, 3, 4, 5"""  # nosec B608 # of constants and dialect


@cache
def take(d: Dialect) -> str:
    """Reserve jobs that were chosen, as far as nobody has changed them meanwhile."""
    return f"""
        UPDATE queues_queuedjob SET slot_id = %(slot_id)s, slot_epoch = %(epoch)s,
            ran_on = %(ran_on)s
        WHERE id {_ids(d, "ids")} AND status = 'pending' AND slot_id IS NULL
        AND paused_at IS NULL AND due_at <= {d.now}
        RETURNING {", ".join([*reserve.RESERVED, *COLUMNS])}"""  # nosec B608 # of constants and dialect


COLUMNS = ["flow_id", "flow_key"]


@cache
def settle(d: Dialect) -> str:
    """Let flows be ready as their waiting jobs say. A flow that had no job gains no credit."""
    due = ", ".join(f"({_probe(d, rank, str(rank), '<=')})" for rank in FLOW_RANKS)
    later = " UNION ALL ".join(
        f"SELECT ({_probe(d, rank, 'j.due_at', '>')}) AS at" for rank in FLOW_RANKS
    )  # nosec B608 # of constants and dialect
    greatest = "GREATEST" if d.vendor == "postgresql" else "max"
    number = "%(time)s::float" if d.vendor == "postgresql" else "%(time)s"
    return f"""
        UPDATE queues_flow SET rank = COALESCE({due}),
            wake_at = (SELECT min(at) FROM ({later}) l), used_at = {d.now},
            time = CASE WHEN rank IS NULL AND waits_for = '' THEN {greatest}(time, {number})
                ELSE time END,
            waits_since = CASE WHEN COALESCE({due}) IS NULL THEN NULL ELSE waits_since END,
            waits_for = CASE WHEN COALESCE({due}) IS NULL THEN '' ELSE waits_for END
        WHERE id {_ids(d, "ids")}
        RETURNING id, rank"""  # nosec B608 # of constants and dialect


def _probe(d: Dialect, rank: int, column: str, compared: str) -> str:
    return (
        f"SELECT {column} FROM queues_queuedjob j WHERE {WAITING.format(flow='queues_flow.id')} "
        f"AND j.rank = {rank} AND j.due_at {compared} {d.now} ORDER BY j.due_at, j.id LIMIT 1"  # nosec B608 # of constants and dialect
    )


@cache
def to_wake(d: Dialect) -> str:
    """Select flows of a queue that are to be looked at by now."""
    return f"""
        SELECT id FROM queues_flow WHERE queue_id = %(queue_id)s AND wake_at IS NOT NULL
        AND wake_at <= {d.now} ORDER BY wake_at LIMIT %(limit)s"""  # nosec B608 # of constants and dialect


@cache
def of_same_keys(d: Dialect) -> str:
    """Select the flows whose limits count the jobs of these flows, too, and do not start now."""
    return f"""
        SELECT o.id FROM queues_flow f JOIN queues_flow o ON o.queue_id = f.queue_id
        AND o.key = f.key AND o.rank IS NULL WHERE f.id {_ids(d, "ids")}"""  # nosec B608 # of constants and dialect


@cache
def of_same_scripts(d: Dialect) -> str:
    """Select flows of other queues with the same key and script."""
    return f"""
        SELECT DISTINCT o.id, o.queue_id FROM queues_flow f JOIN queues_flow o
        ON o.key = f.key AND o.mount = f.mount AND o.script = f.script
        AND o.queue_id <> f.queue_id AND o.waits_for <> '' WHERE f.id {_ids(d, "ids")}"""  # nosec B608 # of constants and dialect


@cache
def move_on(d: Dialect) -> str:
    """Write the virtual time of keys that had a turn, for all of their flows."""
    rows = d.rows("times", key="text", time="float")
    return f"""
        UPDATE queues_flow SET time = t.time, waits_for = '', waits_since = NULL FROM {rows} t
        WHERE queues_flow.queue_id = %(queue_id)s AND queues_flow.key = t.key"""  # nosec B608 # of constants and dialect


@cache
def park(d: Dialect) -> str:
    """Let flows wait for a limit; the moments are seconds from now, if they are known."""
    rows = d.rows("parked", id="bigint", waits_for="text", seconds="float")
    if d.vendor == "postgresql":
        moment = f"{d.now} + make_interval(secs => p.seconds)"
    else:
        moment = "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', p.seconds || ' seconds')"
    return f"""
        UPDATE queues_flow SET rank = NULL, waits_for = p.waits_for,
            waits_since = COALESCE(queues_flow.waits_since, {d.now}),
            wake_at = CASE WHEN p.seconds IS NULL THEN NULL ELSE {moment} END
        FROM {rows} p WHERE queues_flow.id = p.id"""  # nosec B608 # of constants and dialect


@cache
def close_gate(d: Dialect) -> str:
    return f"""
        UPDATE queues_gate SET closed_at = COALESCE(closed_at, {d.now}),
            waits_for = %(waits_for)s, is_whole = %(is_whole)s,
            wake_at = {d.in_seconds("seconds")}
        WHERE queue_id = %(queue_id)s"""  # nosec B608 # of constants and dialect


OPEN_GATE = """
    UPDATE queues_gate SET closed_at = NULL, wake_at = NULL, waits_for = ''
    WHERE queue_id = %(queue_id)s AND closed_at IS NOT NULL"""
MOVE_GATE = "UPDATE queues_gate SET time = %(time)s WHERE queue_id = %(queue_id)s"


@cache
def put_in_flow(d: Dialect) -> str:
    """Move jobs that a slot has just reserved into a flow, which decides when they start."""
    return f"""
        UPDATE queues_queuedjob SET slot_id = NULL, slot_epoch = NULL, rank = rank + {FLOW},
            flow_id = %(flow_id)s, flow_key = COALESCE(flow_key, '')
        WHERE id {_ids(d, "ids")} AND slot_id = %(slot_id)s AND slot_epoch = %(epoch)s
        AND status = 'pending' AND abort_asked_at IS NULL AND rank < {FLOW_RANKS[0]}"""  # nosec B608 # of constants and dialect


@cache
def strays(d: Dialect) -> str:
    """Select jobs of a queue that were pushed before flow control decided about it."""
    probes = " UNION ALL ".join(
        f"SELECT * FROM (SELECT id, mount, script FROM queues_queuedjob "
        f"WHERE queue_id = %(queue_id)s AND rank = {rank} AND status = 'pending' "
        f"AND slot_id IS NULL ORDER BY due_at, id LIMIT %(limit)s) r{number}"  # nosec B608 # of constants and dialect
        for number, rank in enumerate(RANKS)
    )
    return f"SELECT * FROM ({probes}) s LIMIT %(limit)s"  # nosec B608 # of constants and dialect


@cache
def adopt(d: Dialect) -> str:
    """Move waiting jobs into a flow."""
    return f"""
        UPDATE queues_queuedjob SET rank = rank + {FLOW}, flow_id = %(flow_id)s,
            flow_key = COALESCE(flow_key, '')
        WHERE id {_ids(d, "ids")} AND status = 'pending' AND slot_id IS NULL
        AND flow_id IS NULL AND sticky_key IS NULL AND parent IS NULL
        AND rank BETWEEN {RANKS[0]} AND {RANKS[-1]}"""  # nosec B608 # of constants and dialect


@cache
def untended(d: Dialect) -> str:
    """Walk over the flows in which jobs wait; tell of each whether it is ready.

    The index is entered once for each flow, however many jobs of it wait.
    """
    following = (
        "SELECT j.flow_id FROM queues_queuedjob j WHERE j.status = 'pending' "
        "AND j.slot_id IS NULL AND j.flow_id IS NOT NULL AND j.flow_id > {after} "
        "ORDER BY j.flow_id LIMIT 1"
    )
    return f"""
        WITH RECURSIVE walk(id, n) AS (
            SELECT flow_id, 1 FROM ({following.format(after="%(after)s")}) b
            UNION ALL
            SELECT ({following.format(after="walk.id")}), n + 1 FROM walk
            WHERE n < %(limit)s AND walk.id IS NOT NULL
        )
        SELECT walk.id, f.queue_id, f.rank IS NULL AND (f.wake_at IS NULL OR f.wake_at <= {d.now})
        FROM walk LEFT JOIN queues_flow f ON f.id = walk.id WHERE walk.id IS NOT NULL
        ORDER BY n"""  # nosec B608 # of constants and dialect


@cache
def unused(d: Dialect) -> str:
    """Select flows that no job waits or runs in, and that nobody has used for long."""
    return f"""
        SELECT queues_flow.id FROM queues_flow WHERE queues_flow.rank IS NULL
        AND queues_flow.used_at < {d.in_seconds("unused_seconds")}
        AND (
            SELECT 1 FROM queues_queuedjob j WHERE {WAITING.format(flow="queues_flow.id")} LIMIT 1
        ) IS NULL AND (
            SELECT 1 FROM queues_queuedjob j WHERE j.slot_id IS NOT NULL AND j.flow_id IS NOT NULL
            AND j.queue_id = queues_flow.queue_id AND j.flow_key = queues_flow.key LIMIT 1
        ) IS NULL LIMIT %(limit)s"""  # nosec B608 # of constants and dialect
