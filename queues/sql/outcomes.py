"""The statements that store how the jobs of a batch ended: jobs, runs and minute counters.

On PostgreSQL this is one statement, so that it is one round trip and one commit. SQLite has no
UPDATE inside WITH; there the same steps are a few statements in one transaction.
"""

from functools import cache
from itertools import pairwise

from atributo_site.core.database import Dialect
from queues.logic.lifecycle import ABORTED
from queues.models.counters import BOUNDS_MS
from queues.sql import slots

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


# Whether a job has ended that a batch or other jobs wait for. SQLite 3.40 answers the question
# whether `batch_id IS NOT NULL` with yes here, whatever the row says.
ENDS = (
    "(queues_queuedjob.awaited OR COALESCE(queues_queuedjob.batch_id, 0) > 0) "
    "AND queues_queuedjob.status <> 'pending'"
)


def outcome_source(d: Dialect, columns_of: dict[str, str] | None = None) -> str:
    """Turn the outcomes of a batch, given as one JSON array, into rows."""
    kinds = columns_of or OUTCOME
    if d.vendor == "postgresql":
        columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        return f"SELECT * FROM jsonb_to_recordset({d.json('outcomes')}) AS o({columns})"  # nosec B608 # of constants and dialect
    columns = ", ".join(
        f"value -> '$.{name}' AS {name}" if kind == "jsonb" else f"value ->> '$.{name}' AS {name}"
        for name, kind in kinds.items()
    )
    return f"SELECT {columns} FROM json_each(%(outcomes)s)"  # nosec B608 # of constants and dialect


def finish_jobs(
    d: Dialect,
    slot_id: str = "%(slot_id)s",
    epoch: str = "%(epoch)s",
    condition: str = "",
    held_by: str = "queues_queuedjob.slot_id",
) -> str:
    """Change the jobs that this slot holds, at the attempt that it knows of.

    A late writer changes no row. The status is compared by CASE, because a condition that an index
    of unfinished jobs could serve would invite a scan of all that wait.
    """
    null = "'null'::jsonb" if d.vendor == "postgresql" else "'null'"
    # The plus keeps SQLite from finding the jobs by slot and reading all outcomes for each.
    plus = "" if d.vendor == "postgresql" else "+"
    asked = (  # somebody aborted it while it was reserved, and it would go on
        "queues_queuedjob.abort_asked_at IS NOT NULL "
        "AND (o.status = 'pending' OR o.outcome = 'aborted')"
    )
    return f"""
        UPDATE queues_queuedjob SET attempt = o.attempt,
            status = CASE WHEN {asked} THEN 'failed' ELSE o.status END,
            aborted_at = CASE WHEN {asked} THEN {d.now} ELSE queues_queuedjob.aborted_at END,
            abort_asked_at = NULL,
            result = CASE WHEN o.outcome = 'complete' THEN NULLIF(o.result, {null})
                ELSE queues_queuedjob.result END,
            runs = o.runs, run_failures = o.run_failures, lost = o.lost,
            due_at = COALESCE(o.due_at, queues_queuedjob.due_at),
            started_at = o.started_at,
            ended_at = CASE WHEN o.status = 'pending' AND NOT ({asked}) THEN NULL
                ELSE o.ended_at END,
            error = CASE WHEN {asked} THEN '{ABORTED}' ELSE o.error END,
            fingerprint = CASE WHEN {asked} THEN '' ELSE o.fingerprint END,
            slot_id = NULL, slot_epoch = NULL, suspect = {d.false}
        FROM o
        WHERE queues_queuedjob.id = o.id AND {plus}{held_by} = {slot_id}
        AND queues_queuedjob.slot_epoch = {epoch} {condition}
        AND CASE queues_queuedjob.status WHEN 'pending' THEN queues_queuedjob.attempt + 1
            WHEN 'progress' THEN queues_queuedjob.attempt END = o.attempt"""  # nosec B608 # of constants and dialect


RECORD_RUNS = """
    INSERT INTO queues_run (job_id, attempt, number, worker, outcome, started_at, ended_at,
        error, traceback, percent, note)
    SELECT o.id, o.attempt, o.number, %(worker)s, o.outcome, o.started_at, o.ended_at,
        o.error, o.traceback, o.percent, o.note
    FROM o WHERE o.id IN ({accepted})
    ON CONFLICT (job_id, attempt) DO UPDATE SET outcome = excluded.outcome,
        started_at = excluded.started_at, ended_at = excluded.ended_at,
        error = excluded.error, traceback = excluded.traceback,
        percent = COALESCE(excluded.percent, queues_run.percent),
        note = CASE WHEN excluded.note = '' THEN queues_run.note ELSE excluded.note END"""


def count_minute(d: Dialect, accepted: str) -> str:
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
        SELECT %(queue_id)s, {d.minute}, 0, batch.* FROM (
            SELECT {", ".join(values)} FROM o WHERE o.counted = 1 AND o.id IN ({accepted})
        ) batch WHERE batch.started > 0
        ON CONFLICT (queue_id, minute) DO UPDATE SET {added}"""  # nosec B608 # of constants and dialect


def _buckets(column: str) -> list[str]:
    lows = [0, *BOUNDS_MS]
    bounded = [
        f"count(*) FILTER (WHERE {column} >= {low} AND {column} < {high})"
        for low, high in pairwise(lows)
    ]
    return [*bounded, f"count(*) FILTER (WHERE {column} >= {lows[-1]})"]


@cache
def finish_postgresql(d: Dialect) -> str:
    return f"{_finishing(d, slots.renew(d))} SELECT id, aborted_at, ends FROM done"  # nosec B608 # of constants and dialect


@cache
def finish_and_leave_postgresql(d: Dialect) -> str:
    """Leave the slot as well: a row without an id says that it was left, and nothing stored."""
    return f"""
        {_finishing(d, slots.release_with_results(d))}
        SELECT done.id, done.aborted_at, done.ends FROM slot LEFT JOIN done ON TRUE"""  # nosec B608 # of constants and dialect


def _finishing(d: Dialect, change_of_slot: str) -> str:
    accepted = "SELECT id FROM done"
    return f"""
        WITH slot AS ({change_of_slot} RETURNING id),
        o AS MATERIALIZED ({outcome_source(d)}),
        done AS (
            {finish_jobs(d, "(SELECT id FROM slot)")}
            RETURNING queues_queuedjob.id, queues_queuedjob.aborted_at, {ENDS} AS ends
        ),
        runs AS ({RECORD_RUNS.format(accepted=accepted)}),
        minute AS ({count_minute(d, accepted)})"""  # nosec B608 # of constants and dialect


@cache
def finish_sqlite(d: Dialect) -> tuple[str, str, str]:
    """Do the same by three statements of one transaction, after the slot is renewed."""
    rows = f"WITH o AS MATERIALIZED ({outcome_source(d)})"
    accepted = "SELECT value FROM json_each(%(accepted)s)"
    return (
        f"{rows} {finish_jobs(d)} RETURNING id, aborted_at, {ENDS}",
        f"{rows} {RECORD_RUNS.format(accepted=accepted)}",
        f"{rows} {count_minute(d, accepted)}",
    )
