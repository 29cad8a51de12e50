"""The hot paths as SQL: measured, the ORM costs ten times as much as the database.

On PostgreSQL each is one statement, so that it is one round trip and one commit. SQLite has
no UPDATE inside WITH; there the same steps are a few statements in one transaction, which cost
no round trip. `DIALECT` names are filled in once per database.
"""

from functools import cache

from queues.dialect import Dialect
from queues.logic.options import PRIORITIES
from queues.models.minute import BOUNDS_MS

# Ranks in the order in which they start. A probe of the index for each keeps the price of a
# reservation the same however many jobs wait for a later moment.
RANKS = sorted(-priority for priority in PRIORITIES)

RESERVED = [
    "id",
    "mount",
    "script",
    "data",
    "attempt",
    "runs",
    "run_failures",
    "lost",
    "max_failures",
    "repeat_times",
    "repeat_until",
    "repeat_delay_ms",
    "back_off",
    "timeout_ms",
    "success",
    "failure",
    "rank",
    "due_at",
    "suspect",
    "parent",
    "parent_run",
]

PUSHED = [
    "id",
    "queue_id",
    "mount",
    "script",
    "data",
    "rank",
    "due_at",
    "pushed_by",
    "max_failures",
    "repeat_times",
    "repeat_until",
    "repeat_delay_ms",
    "back_off",
    "timeout_ms",
    "success",
    "failure",
    "unique_key",
    "sticky_key",
    "parent",
    "parent_run",
    "suspect",
]
ZERO = {
    "status": "'pending'",
    "attempt": "0",
    "runs": "0",
    "run_failures": "0",
    "lost": "0",
    "error": "''",
    "fingerprint": "''",
}


def due_probe(d: Dialect, rank: int, columns: str, limit: str, queue: str = "%s") -> str:
    """The first due jobs of one rank."""
    return (
        f"SELECT {columns} FROM queues_queuedjob WHERE queue_id = {queue} AND rank = {rank} "
        f"AND status = 'pending' AND slot_id IS NULL AND due_at <= {d.now} "
        f"ORDER BY due_at, id {limit}"
    )


@cache
def has_due(d: Dialect, queue: str) -> str:
    """A condition: this queue has a job to start.

    Not EXISTS, which forgets the order: with statistics from a time when many jobs waited,
    PostgreSQL would then rather read the whole table.
    """
    probes = (f"({due_probe(d, rank, 'id', 'LIMIT 1', queue)}) IS NOT NULL" for rank in RANKS)
    return f"({' OR '.join(probes)})"


# Queue and installed script of a push. Parameters: mount, script, queue.
FIND_SCRIPT = """
    SELECT q.id, s.schema, s.defaults FROM queues_queue q
    LEFT JOIN (queues_script s JOIN queues_service v ON v.id = s.service_id AND v.mount = %s)
        ON s.name = %s
    WHERE q.name = %s AND q.deleted_at IS NULL"""


@cache
def push(d: Dialect, *, once: bool) -> str:
    """One row; with `once`, none if its unique key is taken."""
    places = ", ".join(
        f"COALESCE(%s, {d.now})" if column == "due_at" else "%s" for column in PUSHED
    )
    conflict = "ON CONFLICT DO NOTHING" if once else ""
    return (
        f"INSERT INTO queues_queuedjob ({', '.join([*PUSHED, *ZERO])}) "
        f"VALUES ({places}, {', '.join(ZERO.values())}) {conflict} RETURNING id"
    )


@cache
def push_one_of_many(d: Dialect) -> str:
    """SQLite runs a statement for each row without a round trip."""
    return push(d, once=False).removesuffix(" RETURNING id")


@cache
def push_many_postgresql(d: Dialect) -> str:
    """Rows that differ in id and data only."""
    given = {
        "id": "row.id",
        "data": "row.data::jsonb",
        "due_at": f"COALESCE(%s, {d.now})",
        "back_off": "%s::jsonb",
        "success": "%s::jsonb",
        "failure": "%s::jsonb",
    }
    values = ", ".join(given.get(column, "%s") for column in PUSHED)
    return (
        f"INSERT INTO queues_queuedjob ({', '.join([*PUSHED, *ZERO])}) "
        f"SELECT {values}, {', '.join(ZERO.values())} "
        "FROM unnest(%s::bigint[], %s::text[]) AS row(id, data)"
    )


@cache
def choose_slots(d: Dialect) -> str:
    """Mark free slots of a queue as rung. Parameters: re-ring seconds, queue, limit."""
    return f"""
        UPDATE queues_slot SET rung_at = {d.now} WHERE id IN (
            SELECT s.id FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
            WHERE s.holder = '' AND (s.rung_at IS NULL OR s.rung_at < {d.later})
            AND s.queue_id = %s AND s.number < q.max_workers
            AND q.paused_at IS NULL AND q.deleted_at IS NULL
            ORDER BY s.number LIMIT %s {d.lock and "FOR UPDATE OF s SKIP LOCKED"}
        ) RETURNING id, number"""


@cache
def acquire(d: Dialect) -> str:
    """Take a free slot. While slots above a lowered limit still run, none below it is taken.

    The share lock orders this against a change of the limit: without it, a slot taken under
    the old limit might not be seen yet. Parameters: queue name, holder, lease seconds, number.
    """
    share = "FOR SHARE" if d.vendor == "postgresql" else ""
    return f"""
        WITH q AS (
            SELECT id, max_workers FROM queues_queue
            WHERE paused_at IS NULL AND deleted_at IS NULL AND name = %s {share}
        )
        UPDATE queues_slot SET holder = %s, epoch = epoch + 1, rung_at = NULL,
            leased_until = {d.later}
        WHERE queue_id = (SELECT id FROM q) AND number = %s AND holder = ''
        AND number < (SELECT max_workers FROM q)
        AND NOT EXISTS (
            SELECT 1 FROM queues_slot above WHERE above.queue_id = (SELECT id FROM q)
            AND above.number >= (SELECT max_workers FROM q) AND above.holder <> ''
        )
        RETURNING id, epoch, queue_id"""


@cache
def renew(d: Dialect) -> str:
    """Parameters: lease seconds, slot, epoch."""
    return f"""
        UPDATE queues_slot SET leased_until = {d.later}
        WHERE id = %s AND epoch = %s AND leased_until > {d.now}"""


@cache
def release(d: Dialect) -> str:
    return """
        UPDATE queues_slot SET holder = '', leased_until = NULL, rung_at = NULL
        WHERE id = %s AND epoch = %s AND holder <> ''"""


@cache
def reserve(d: Dialect) -> str:
    """Hold the next due jobs of a slot's queue. Their status and attempt do not change."""
    picked = " UNION ALL ".join(
        f"SELECT id FROM ({due_probe(d, rank, 'id', f'LIMIT %s {d.lock}')}) r{number}"
        for number, rank in enumerate(RANKS)
    )
    # An array, because a join would be free to scan the table or to pick again and again.
    chosen = "= ANY(ARRAY(SELECT id FROM picked))" if d.lock else "IN (SELECT id FROM picked)"
    return f"""
        WITH picked AS MATERIALIZED ({picked} LIMIT %s)
        UPDATE queues_queuedjob SET slot_id = %s, slot_epoch = %s
        WHERE id {chosen} AND status = 'pending' AND slot_id IS NULL
        AND EXISTS (
            SELECT 1 FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
            WHERE s.id = %s AND s.epoch = %s AND s.leased_until > {d.now}
            AND s.number < q.max_workers AND q.paused_at IS NULL AND q.deleted_at IS NULL
        )
        RETURNING {", ".join(RESERVED)}, {d.now},
            COALESCE((SELECT max(revision) FROM queues_catalogue), 0)"""


GIVE_BACK = """
    UPDATE queues_queuedjob SET slot_id = NULL, slot_epoch = NULL
    WHERE slot_id = %s AND slot_epoch = %s AND status = 'pending'"""


@cache
def start(d: Dialect) -> str:
    """Turn a reserved job `progress`. Parameters: job, slot, epoch, attempt before."""
    return f"""
        UPDATE queues_queuedjob SET status = 'progress', attempt = attempt + 1,
            started_at = {d.later}
        WHERE id = %s AND slot_id = %s AND slot_epoch = %s AND status = 'pending'
        AND attempt = %s"""


@cache
def record_start(d: Dialect) -> str:
    return f"""
        INSERT INTO queues_run (job_id, attempt, number, worker, outcome, started_at,
            error, traceback, note)
        VALUES (%s, %s, %s, %s, 'running', {d.later}, '', '', '')"""


STILL_OURS = """
    SELECT 1 FROM queues_queuedjob
    WHERE id = %s AND slot_id = %s AND slot_epoch = %s AND status = 'progress'"""

SHOW_PROGRESS = "UPDATE queues_run SET percent = %s, note = %s WHERE job_id = %s AND attempt = %s"

OUTCOME = {
    "id": "bigint",
    "attempt": "int",
    "status": "text",
    "outcome": "text",
    "result": "jsonb",
    "runs": "int",
    "run_failures": "int",
    "lost": "int",
    "number": "int",
    "due_at": "timestamptz",
    "started_at": "timestamptz",
    "ended_at": "timestamptz",
    "error": "text",
    "traceback": "text",
    "fingerprint": "text",
    "percent": "float",
    "note": "text",
    "counted": "int",
    "retried": "int",
    "wait_ms": "bigint",
    "run_ms": "bigint",
}
COUNTS = [
    "started",
    "complete",
    "failed",
    "retried",
    "wait_ms",
    "run_ms",
    *(f"{kind}_{n}" for kind in ("wait", "run") for n in range(len(BOUNDS_MS) + 1)),
]


def outcome_source(d: Dialect) -> str:
    """The outcomes of a batch, given as one JSON array, as rows."""
    if d.vendor == "postgresql":
        columns = ", ".join(f"{name} {kind}" for name, kind in OUTCOME.items())
        return f"SELECT * FROM jsonb_to_recordset(%s::jsonb) AS o({columns})"
    columns = ", ".join(
        f"value -> '$.{name}' AS {name}" if kind == "jsonb" else f"value ->> '$.{name}' AS {name}"
        for name, kind in OUTCOME.items()
    )
    return f"SELECT {columns} FROM json_each(%s)"


def finish_jobs(d: Dialect, slot_id: str, slot_epoch: str) -> str:
    """Only what this slot holds, at the attempt it knows of: whoever comes late changes nothing."""
    null = "'null'::jsonb" if d.vendor == "postgresql" else "'null'"
    no = "FALSE" if d.vendor == "postgresql" else "0"
    # The plus keeps SQLite from finding the jobs by slot and reading all outcomes for each.
    plus = "" if d.vendor == "postgresql" else "+"
    return f"""
        UPDATE queues_queuedjob SET status = o.status, attempt = o.attempt,
            result = CASE WHEN o.outcome = 'complete' THEN NULLIF(o.result, {null})
                ELSE queues_queuedjob.result END,
            runs = o.runs, run_failures = o.run_failures, lost = o.lost,
            due_at = COALESCE(o.due_at, queues_queuedjob.due_at),
            started_at = o.started_at,
            ended_at = CASE WHEN o.status = 'pending' THEN NULL ELSE o.ended_at END,
            error = o.error, fingerprint = o.fingerprint,
            slot_id = NULL, slot_epoch = NULL, suspect = {no}
        FROM o
        WHERE queues_queuedjob.id = o.id AND {plus}queues_queuedjob.slot_id = {slot_id}
        AND queues_queuedjob.slot_epoch = {slot_epoch}
        AND ((queues_queuedjob.status = 'pending' AND queues_queuedjob.attempt = o.attempt - 1)
            OR (queues_queuedjob.status = 'progress' AND queues_queuedjob.attempt = o.attempt))"""


RECORD_RUNS = """
    INSERT INTO queues_run (job_id, attempt, number, worker, outcome, started_at, ended_at,
        error, traceback, percent, note)
    SELECT o.id, o.attempt, o.number, {worker}, o.outcome, o.started_at, o.ended_at,
        o.error, o.traceback, o.percent, o.note
    FROM o WHERE o.id IN ({accepted})
    ON CONFLICT (job_id, attempt) DO UPDATE SET outcome = excluded.outcome,
        started_at = excluded.started_at, ended_at = excluded.ended_at,
        error = excluded.error, traceback = excluded.traceback,
        percent = COALESCE(excluded.percent, queues_run.percent),
        note = CASE WHEN excluded.note = '' THEN queues_run.note ELSE excluded.note END"""


def count_minute(d: Dialect, queue_id: str, accepted: str) -> str:
    """Add a batch to the counters of its minute."""
    values = [
        "count(*)",
        "count(*) FILTER (WHERE o.outcome = 'complete')",
        "count(*) FILTER (WHERE o.outcome = 'failed')",
        "sum(o.retried)",
        "sum(o.wait_ms)",
        "sum(o.run_ms)",
        *_buckets("o.wait_ms"),
        *_buckets("o.run_ms"),
    ]
    values = [f"{value} AS {name}" for value, name in zip(values, COUNTS, strict=True)]
    added = ", ".join(f"{name} = queues_minutecount.{name} + excluded.{name}" for name in COUNTS)
    return f"""
        INSERT INTO queues_minutecount (queue_id, minute, pushed, {", ".join(COUNTS)})
        SELECT {queue_id}, {d.minute}, 0, batch.* FROM (
            SELECT {", ".join(values)} FROM o WHERE o.counted = 1 AND o.id IN ({accepted})
        ) batch WHERE batch.started > 0
        ON CONFLICT (queue_id, minute) DO UPDATE SET {added}"""


def _buckets(column: str) -> list[str]:
    low = 0
    found = []
    for high in BOUNDS_MS:
        found.append(f"count(*) FILTER (WHERE {column} >= {low} AND {column} < {high})")
        low = high
    return [*found, f"count(*) FILTER (WHERE {column} >= {low})"]


@cache
def finish_postgresql(d: Dialect) -> str:
    """Parameters: lease seconds, slot, epoch, outcomes, epoch, worker, queue."""
    accepted = "SELECT id FROM done"
    return f"""
        WITH slot AS ({renew(d)} RETURNING id),
        o AS MATERIALIZED ({outcome_source(d)}),
        done AS ({finish_jobs(d, "(SELECT id FROM slot)", "%s")} RETURNING queues_queuedjob.id),
        runs AS ({RECORD_RUNS.format(worker="%s", accepted=accepted)}),
        minute AS ({count_minute(d, "%s::bigint", accepted)})
        SELECT id FROM done"""


@cache
def finish_sqlite(d: Dialect) -> tuple[str, str, str, str]:
    """The same as four statements of one transaction."""
    rows = f"WITH o AS MATERIALIZED ({outcome_source(d)})"
    accepted = "SELECT value FROM json_each(%s)"
    return (
        renew(d),
        f"{rows} {finish_jobs(d, '%s', '%s')} RETURNING id",
        f"{rows} {RECORD_RUNS.format(worker='%s', accepted=accepted)}",
        f"{rows} {count_minute(d, '%s', accepted)}",
    )


@cache
def queues_with_work(d: Dialect) -> str:
    return f"""
        SELECT q.id, q.name, q.max_workers FROM queues_queue q
        WHERE q.paused_at IS NULL AND q.deleted_at IS NULL AND {has_due(d, "q.id")}
        ORDER BY q.id"""


@cache
def free_slots(d: Dialect) -> str:
    return f"""
        SELECT q.name, min(s.number) FROM queues_queue q JOIN queues_slot s ON s.queue_id = q.id
        WHERE q.paused_at IS NULL AND q.deleted_at IS NULL AND {has_due(d, "q.id")}
        AND s.holder = '' AND s.number < q.max_workers
        GROUP BY q.id, q.name ORDER BY q.id"""


NEXT_DUE = "SELECT " + ", ".join(
    "(SELECT due_at FROM queues_queuedjob WHERE queue_id = %s "
    f"AND rank = {rank} AND status = 'pending' AND slot_id IS NULL ORDER BY due_at LIMIT 1)"
    for rank in RANKS
)


@cache
def gauges(d: Dialect) -> str:
    """One line per queue, each number by index and counted no further than the limit given."""
    first_due = ", ".join(
        "(SELECT due_at FROM queues_queuedjob WHERE queue_id = q.id "
        f"AND rank = {rank} AND status = 'pending' AND slot_id IS NULL ORDER BY due_at LIMIT 1)"
        for rank in RANKS
    )
    return f"""
        SELECT q.name, q.max_workers, q.paused_at,
            (SELECT count(*) FROM queues_slot s
                WHERE s.queue_id = q.id AND s.leased_until > {d.now}),
            (SELECT count(*) FROM (
                SELECT 1 FROM queues_queuedjob WHERE queue_id = q.id
                AND status = 'pending' AND slot_id IS NULL LIMIT %s) waiting),
            {first_due}
        FROM queues_queue q WHERE q.deleted_at IS NULL ORDER BY q.name LIMIT 1000"""
