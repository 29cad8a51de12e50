"""The statements of flow control. Those that decide run while the gate of their queue is locked.

A flow is found by its index of ready flows, and its jobs by the index of jobs that wait in it: no
statement reads more the more jobs wait.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import FLOW, FLOW_RANKS, INTO_FLOW, RANKS, STICKY_RANKS
from queues.sql import reserve, sticky
from queues.sql.push import REVISION

WAITING = (
    "j.status = 'pending' AND j.slot_id IS NULL AND j.flow_id IS NOT NULL AND j.flow_id = {flow}"
)


@cache
def lock_gate(d: Dialect) -> str:
    """Lock the gate, and plan without sorting, and only once, until the transaction ends.

    While hardly any job waits, all indexes look alike to PostgreSQL. It would remember to read any
    of them whole and to sort, for each flow, when many jobs wait. With statistics it would plan
    again for each reservation, which takes longer than the reservation.
    """
    in_order = ""
    if d.vendor == "postgresql":
        in_order = """, set_config('enable_sort', 'off', TRUE),
            set_config('plan_cache_mode', 'force_generic_plan', TRUE)"""
    lock = "FOR UPDATE" if d.lock else ""
    return f"SELECT time{in_order} FROM queues_gate WHERE queue_id = %(queue_id)s {lock}"  # nosec B608 # of constants and dialect


@cache
def lock_scripts(d: Dialect) -> str:
    """Lock the gates of these scripts, in one order for everybody."""
    listed = d.among("names", "text")
    lock = "FOR UPDATE" if d.lock else ""
    return f"SELECT name FROM queues_gate WHERE name {listed} ORDER BY name {lock}"  # nosec B608 # of constants and dialect


@cache
def held_slot(d: Dialect) -> str:
    """Select what a reservation must know of its queue while the slot is held and it is active.

    The last two columns say whether a flow is to be looked at by now, and whether a job waits
    outside of flows.
    """
    return f"""
        SELECT q.limits, q.weights, {d.now}, {REVISION}, q.record_start,
            ({_to_wake(d, "q.id", "1")}) IS NOT NULL,
            ({_strays("q.id", "1")} LIMIT 1) IS NOT NULL
        FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
        WHERE s.id = %(slot_id)s AND s.epoch = %(epoch)s AND s.leased_until > {d.now}
        AND s.number < q.max_workers AND {reserve.ACTIVE} {d.lock and "FOR SHARE OF q"}"""  # nosec B608 # of constants and dialect


@cache
def ready_scripts(d: Dialect) -> str:
    """Walk over the scripts of a queue that have a ready flow: two steps into the index for each.

    A single one that compares both columns would read all flows of the mount on SQLite.
    """
    following = (
        "SELECT f.id FROM queues_flow f WHERE f.queue_id = %(queue_id)s "
        "AND f.station = %(station)s AND f.rank IS NOT NULL "
        "{beyond} ORDER BY f.mount, f.script LIMIT 1"
    )
    of_mount = following.format(beyond="AND f.mount = w.mount AND f.script > w.script")
    of_others = following.format(beyond="AND f.mount > w.mount")
    step = f"COALESCE(({of_mount}), ({of_others}))"
    return f"""
        WITH RECURSIVE walk(id) AS (
            SELECT id FROM ({following.format(beyond="")}) first_one
            UNION ALL
            SELECT {step} FROM walk JOIN queues_flow w ON w.id = walk.id
        )
        SELECT f.mount, f.script FROM walk JOIN queues_flow f ON f.id = walk.id"""  # nosec B608 # of constants and dialect


READY = """
    SELECT id, key, time, rank FROM queues_flow WHERE queue_id = %(queue_id)s
    AND station = %(station)s AND mount = %(mount)s AND script = %(script)s
    AND rank IS NOT NULL ORDER BY rank, time, id LIMIT %(flows)s"""


READY_ELSEWHERE = """
    SELECT 1 FROM queues_flow WHERE queue_id = %(queue_id)s AND rank IS NOT NULL
    AND station NOT IN (%(first)s, %(last)s) LIMIT 1"""


def _first_jobs(d: Dialect, flow: str, of_station: bool, most: str = "%(jobs)s") -> str:
    """Sticky jobs start only where their key is allocated, and while no other holds the key."""
    source, startable = "queues_queuedjob j", ""
    if of_station:
        startable = f"AND {sticky.ALONE} AND ({sticky.PLACED_HERE}) IS NOT NULL "
    if of_station and d.lock:
        source += f", LATERAL ({sticky.PLACED_HERE} FOR SHARE SKIP LOCKED) placed"
        startable = f"AND {sticky.ALONE} "
    probes = " UNION ALL ".join(
        f"SELECT * FROM (SELECT j.flow_id, j.id, j.rank, j.limits FROM {source} "
        f"WHERE {WAITING.format(flow=flow)} AND j.rank = {rank} AND j.due_at <= {d.now} {startable}"
        f"ORDER BY j.due_at, j.id LIMIT {most}) r{number}"  # nosec B608 # of constants and dialect
        for number, rank in enumerate(FLOW_RANKS)
    )
    return f"SELECT * FROM ({probes}) p LIMIT {most}"  # nosec B608 # of constants and dialect


@cache
def first_jobs(d: Dialect, *, of_station: bool) -> str:
    """Select the first due jobs of each of many flows, listed in one column; SQLite only."""
    of_each = _first_jobs(d, "f.value", of_station)
    jobs = f"SELECT json_group_array(json_array(n.id, n.rank, n.limits)) FROM ({of_each}) n"  # nosec B608 # of constants and dialect
    return f"SELECT f.value, ({jobs}) FROM json_each(%(flows)s) f"  # nosec B608 # of constants and dialect


@cache
def candidates(d: Dialect, *, of_station: bool) -> str:
    """Select the ready flows of each script with their first due jobs; PostgreSQL only.

    The job after those that may start tells how its flow goes on.
    """
    share = "SELECT (%(jobs)s::int + count(*) - 1) / greatest(count(*), 1) + 1 FROM ready"
    of_each = _first_jobs(d, "r.id", of_station, most=f"({share})")
    following = READY.replace("%(mount)s", "s.mount").replace("%(script)s", "s.script")
    return f"""
        WITH s AS MATERIALIZED ({ready_scripts(d)}), ready AS MATERIALIZED (
            SELECT f.*, s.mount, s.script FROM s, LATERAL ({following}) f
            WHERE s.mount || '/' || s.script <> ALL(%(closed)s::text[])
        )
        SELECT r.*, n.id, n.rank, n.limits FROM ready r LEFT JOIN LATERAL ({of_each}) n ON TRUE"""  # nosec B608 # of constants and dialect


@cache
def held(d: Dialect, *, everywhere: bool) -> str:
    """Count what is held, by what limits count: few rows, as only slots hold jobs."""
    where = "" if everywhere else "AND queue_id = %(queue_id)s"
    return f"""
        SELECT queue_id, COALESCE(flow_key, ''), mount, script,
            COALESCE(routed_to, ran_on, ''), count(*)
        FROM queues_queuedjob WHERE slot_id > 0 AND COALESCE(parent, 0) = 0 {where}
        GROUP BY 1, 2, 3, 4, 5"""  # nosec B608 # of constants and dialect


@cache
def take(d: Dialect) -> str:
    """Reserve jobs that were chosen, as far as nobody has changed them meanwhile."""
    return f"""
        UPDATE queues_queuedjob SET slot_id = %(slot_id)s, slot_epoch = %(epoch)s,
            ran_on = %(ran_on)s
        WHERE id {d.among("ids")} AND {reserve.STILL_WAITS}
        AND paused_at IS NULL AND due_at <= {d.now}
        RETURNING {", ".join([*reserve.RESERVED, *COLUMNS])}"""  # nosec B608 # of constants and dialect


COLUMNS = [*sticky.STICKY_COLUMNS, *sticky.FLOW_COLUMNS]


@cache
def settle(d: Dialect, flows: str = "ids") -> str:
    """Let flows be ready as their waiting jobs say. A flow that had no job gains no credit."""
    number = "%(time)s::float" if d.vendor == "postgresql" else "%(time)s"
    return _settle(d, f"id {d.among(flows)}", number)


@cache
def settle_after_ends(d: Dialect, *, only_idle: bool) -> str:
    """Do so for flows with jobs that have ended or were given back, and others of their keys.

    With `only_idle` a flow stays as it is that is ready with the rank `least` or a better one.
    """
    if d.vendor == "postgresql":
        ids = f"= ANY(ARRAY(SELECT unnest(%(ids)s::bigint[]) UNION {of_same_keys(d)}))"
    else:
        ids = f"IN (SELECT value FROM json_each(%(ids)s) UNION {of_same_keys(d)})"  # nosec B608 # of constants and dialect
    idle = "AND (rank IS NULL OR rank > %(least)s)" if only_idle else ""
    return _settle(d, f"id {ids} {idle}", f"({GATE_TIME})")


@cache
def settle_in_queue(d: Dialect) -> str:
    return _settle(d, f"id {d.among('ids')}", f"({GATE_TIME})")


GATE_TIME = "SELECT time FROM queues_gate WHERE queue_id = %(queue_id)s"


def _settle(d: Dialect, which: str, time: str) -> str:
    due = ", ".join(f"({_probe(d, rank, str(rank), '<=')})" for rank in FLOW_RANKS)
    later = " UNION ALL ".join(
        f"SELECT ({_probe(d, rank, 'j.due_at', '>')}) AS at" for rank in FLOW_RANKS
    )  # nosec B608 # of constants and dialect
    return f"""
        WITH s AS MATERIALIZED (
            SELECT id, COALESCE({due}) AS due, (SELECT min(at) FROM ({later}) l) AS later
            FROM queues_flow WHERE {which}
        )
        UPDATE queues_flow SET rank = s.due, wake_at = s.later, used_at = {d.now},
            time = CASE WHEN rank IS NULL AND waits_for = '' THEN {d.greatest}(time, {time})
                ELSE time END,
            waits_since = CASE WHEN s.due IS NULL THEN NULL ELSE waits_since END,
            waits_for = CASE WHEN s.due IS NULL THEN '' ELSE waits_for END
        FROM s WHERE queues_flow.id = s.id
        RETURNING queues_flow.id, rank, station"""  # nosec B608 # of constants and dialect


def _probe(d: Dialect, rank: int, column: str, compared: str) -> str:
    return (
        f"SELECT {column} FROM queues_queuedjob j WHERE {WAITING.format(flow='queues_flow.id')} "
        f"AND j.rank = {rank} AND j.due_at {compared} {d.now} ORDER BY j.due_at, j.id LIMIT 1"  # nosec B608 # of constants and dialect
    )


@cache
def to_wake(d: Dialect) -> str:
    """Select flows of a queue that are to be looked at by now."""
    return _to_wake(d, "%(queue_id)s", "%(limit)s")


def _to_wake(d: Dialect, queue: str, limit: str) -> str:
    return f"""
        SELECT id FROM queues_flow WHERE queue_id = {queue} AND wake_at IS NOT NULL
        AND wake_at <= {d.now} ORDER BY wake_at LIMIT {limit}"""  # nosec B608 # of constants and dialect


@cache
def of_same_keys(d: Dialect) -> str:
    """Select the flows whose limits count the jobs of these flows, too, and do not start now."""
    return f"""
        SELECT o.id FROM queues_flow f JOIN queues_flow o ON o.queue_id = f.queue_id
        AND o.key = f.key AND o.rank IS NULL WHERE f.id {d.among("ids")}"""  # nosec B608 # of constants and dialect


@cache
def of_same_scripts(d: Dialect) -> str:
    """Select flows of other queues with the same key and script."""
    return f"""
        SELECT DISTINCT o.id, o.queue_id FROM queues_flow f JOIN queues_flow o
        ON o.key = f.key AND o.mount = f.mount AND o.script = f.script
        AND o.queue_id <> f.queue_id AND o.waits_for <> '' WHERE f.id {d.among("ids")}"""  # nosec B608 # of constants and dialect


@cache
def move_on(d: Dialect) -> str:
    """Write the virtual time of keys that had a turn, for all of their flows.

    SQLite is told to begin with the keys; it would read all flows of the queue, and all keys for
    each.
    """
    rows = d.rows("times", key="text", time="float")
    if d.vendor == "postgresql":
        return f"""
            UPDATE queues_flow SET time = t.time, waits_for = '', waits_since = NULL FROM {rows} t
            WHERE queues_flow.queue_id = %(queue_id)s AND queues_flow.key = t.key"""  # nosec B608 # of constants and dialect
    return f"""
        WITH t AS MATERIALIZED (
            SELECT f.id, r.time FROM {rows} r CROSS JOIN queues_flow f
            ON f.queue_id = %(queue_id)s AND f.key = r.key
        )
        UPDATE queues_flow SET time = (SELECT t.time FROM t WHERE t.id = queues_flow.id),
            waits_for = '', waits_since = NULL
        WHERE id IN (SELECT id FROM t)"""  # nosec B608 # of constants and dialect


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
OPEN_FOR_OTHERS = f"{OPEN_GATE} AND NOT is_whole"
HAS_LIMITED_SCRIPTS = "SELECT 1 FROM queues_script WHERE limits IS NOT NULL LIMIT 1"
MOVE_GATE = "UPDATE queues_gate SET time = %(time)s WHERE queue_id = %(queue_id)s"


RANK_IN_FLOW = f"rank + CASE WHEN sticky_key IS NULL THEN {FLOW} ELSE {INTO_FLOW} END"


@cache
def set_aside(d: Dialect) -> str:
    """Look at flows again in a moment: they have due jobs, and none may start here now."""
    return f"""
        UPDATE queues_flow SET rank = NULL, wake_at = {d.in_seconds("seconds")}
        WHERE id {d.among("ids")} AND rank IS NOT NULL"""  # nosec B608 # of constants and dialect


@cache
def put_in_flow(d: Dialect) -> str:
    """Move jobs that a slot has just reserved into a flow, which decides when they start."""
    return f"""
        UPDATE queues_queuedjob SET slot_id = NULL, slot_epoch = NULL, rank = {RANK_IN_FLOW},
            flow_id = %(flow_id)s, flow_key = COALESCE(flow_key, '')
        WHERE id {d.among("ids")} AND slot_id = %(slot_id)s AND slot_epoch = %(epoch)s
        AND status = 'pending' AND abort_asked_at IS NULL AND rank < {FLOW_RANKS[0]}"""  # nosec B608 # of constants and dialect


@cache
def strays(d: Dialect) -> str:
    """Select jobs of a queue that were pushed before flow control decided about it."""
    columns = "id, mount, script, '' AS flow_key"
    return f"{_strays('%(queue_id)s', '%(limit)s', columns)} LIMIT %(limit)s"  # nosec B608 # of constants and dialect


def _strays(queue: str, limit: str, columns: str = "id") -> str:
    probes = " UNION ALL ".join(
        f"SELECT * FROM (SELECT {columns} FROM queues_queuedjob "
        f"WHERE queue_id = {queue} AND rank = {rank} AND status = 'pending' "
        f"AND slot_id IS NULL ORDER BY due_at, id LIMIT {limit}) r{number}"  # nosec B608 # of constants and dialect
        for number, rank in enumerate(RANKS)
    )
    return f"SELECT * FROM ({probes}) s"  # nosec B608 # of constants and dialect


@cache
def strays_at(d: Dialect) -> str:
    """Select due sticky jobs of a station that flow control has not decided about yet."""
    probes = " UNION ALL ".join(
        f"SELECT * FROM (SELECT j.id, j.mount, j.script, COALESCE(j.flow_key, '') AS flow_key "
        f"FROM queues_queuedjob j WHERE {sticky.WAITING.format(job='j')} = %(station)s "
        f"AND j.queue_id = %(queue_id)s AND j.rank = {rank} AND j.due_at <= {d.now} "
        f"ORDER BY j.due_at, j.id LIMIT %(limit)s) r{rank}"  # nosec B608 # of constants and dialect
        for rank in STICKY_RANKS
    )
    return f"SELECT * FROM ({probes}) s LIMIT %(limit)s"  # nosec B608 # of constants and dialect


@cache
def adopt(d: Dialect) -> str:
    """Move waiting jobs into a flow, if they still wait where they were found."""
    return f"""
        UPDATE queues_queuedjob SET rank = {RANK_IN_FLOW}, flow_id = %(flow_id)s,
            flow_key = COALESCE(flow_key, '')
        WHERE id {d.among("ids")} AND {reserve.STILL_WAITS}
        AND flow_id IS NULL AND parent IS NULL AND COALESCE(routed_to, '') = %(station)s
        AND (sticky_key IS NULL AND rank BETWEEN {RANKS[0]} AND {RANKS[-1]}
            OR sticky_key IS NOT NULL AND rank BETWEEN {STICKY_RANKS[0]} AND {STICKY_RANKS[-1]})"""  # nosec B608 # of constants and dialect


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
