"""The statements of a push."""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import FIRST_BLOCKED
from queues.sql import slots

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
    "concurrent",
    "parent",
    "parent_run",
    "suspect",
    "expires_at",
    "flow_key",
    "flow_id",
    "limits",
]
LINKED = [*PUSHED, "batch_id", "delayed_until"]  # of a job of a batch, or that waits for others
ZERO = {
    "status": "'pending'",
    "attempt": "0",
    "runs": "0",
    "run_failures": "0",
    "lost": "0",
    "error": "''",
    "fingerprint": "''",
}

REVISION = "COALESCE((SELECT max(revision) FROM queues_catalogue), 0)"

# The queue and the installed script of a push.
FIND_SCRIPT = f"""
    SELECT q.id, s.schema, s.defaults, {REVISION},
        s.limits IS NOT NULL OR EXISTS (SELECT 1 FROM queues_gate g WHERE g.queue_id = q.id)
    FROM queues_queue q
    LEFT JOIN (queues_script s JOIN queues_service v ON v.id = s.service_id AND v.mount = %(mount)s)
        ON s.name = %(script)s
    WHERE q.name = %(queue)s AND q.deleted_at IS NULL"""  # nosec B608 # of constants and dialect


@cache
def push(d: Dialect, *, once: bool, linked: bool = False) -> str:
    """Store one job; with `once`, none if its unique key is taken."""
    conflict = "ON CONFLICT DO NOTHING" if once else ""
    return f"{_into(d, linked=linked)} WHERE TRUE {conflict} RETURNING id"


@cache
def push_known(d: Dialect, *, linked: bool = False) -> str:
    """Store one job while its queue and the installed services are those that it was checked for.

    No job is stored if its unique key is taken.
    """
    return (
        f"{_into(d, linked)} FROM queues_queue q WHERE q.id = %(queue_id)s AND q.name = %(queue)s "
        f"AND q.deleted_at IS NULL AND {REVISION} = %(revision)s "
        "ON CONFLICT DO NOTHING RETURNING id"
    )


@cache
def push_and_ring(d: Dialect) -> str:
    """Store the job and mark the slot to ring at in one commit; PostgreSQL only.

    Without a slot to ring at, somebody is watched who looks for jobs after this commit.
    """
    return f"""
        WITH pushed AS ({push_known(d)}),
        rung AS ({slots.choose_slots(d, "EXISTS (SELECT 1 FROM pushed)")}),
        watched AS ({slots.watch(d, "NOT EXISTS (SELECT 1 FROM rung)")})
        SELECT pushed.id, rung.id, rung.number, rung.id IS NOT NULL AND {slots.is_idle(d)},
            watched.id IS NOT NULL
        FROM pushed LEFT JOIN rung ON TRUE LEFT JOIN watched ON TRUE"""  # nosec B608 # of constants and dialect


@cache
def push_and_look(d: Dialect) -> str:
    """Store the job and tell whether there is a slot to ring at; SQLite only.

    To mark the slot is a commit of its own, which most pushes to a busy queue do without. Nobody
    else writes meanwhile, so whoever holds a slot, or is on the way to one, looks after this.
    """
    free = f"""
        SELECT 1 FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
        WHERE s.queue_id = %(queue_id)s AND {slots.may_be_rung(d)} LIMIT 1"""  # nosec B608 # of constants and dialect
    return f"{push_known(d)}, ({free})"


@cache
def replace_waiting(d: Dialect) -> str:
    """Give a job that waits other data and another moment, as `push_known` would store it."""
    null = "NULL::timestamptz" if d.vendor == "postgresql" else "NULL"
    return f"""
        UPDATE queues_queuedjob SET data = %(data)s,
            due_at = CASE WHEN rank >= {FIRST_BLOCKED} THEN due_at
                ELSE COALESCE(%(due_at)s, {d.now}) END,
            delayed_until = CASE WHEN rank >= {FIRST_BLOCKED}
                THEN COALESCE(%(due_at)s, {d.now}) END,
            expires_at = COALESCE(%(expires_at)s, {null}), run_failures = 0, lost = 0
        WHERE queue_id = %(queue_id)s AND unique_key = %(unique_key)s
        AND unique_key IS NOT NULL AND status IN ('pending', 'progress')
        AND status = 'pending' AND slot_id IS NULL AND mount = %(mount)s AND script = %(script)s
        AND {REVISION} = %(revision)s AND EXISTS (
            SELECT 1 FROM queues_queue q WHERE q.id = %(queue_id)s AND q.name = %(queue)s
            AND q.deleted_at IS NULL
        ) RETURNING id"""  # nosec B608 # of constants and dialect


@cache
def push_many(d: Dialect, *, linked: bool = False) -> str:
    """Store jobs that differ in id and data only; SQLite takes both as one JSON list."""
    if d.vendor == "postgresql":
        rows = "unnest(%(ids)s::bigint[], %(texts)s::text[]) AS row(id, data)"
        return f"{_into(d, linked, id='row.id', data='row.data::jsonb')} FROM {rows}"
    into = _into(d, linked, id="row.value ->> 0", data="row.value ->> 1")
    return f"{into} FROM json_each(%(rows)s) row"


def _into(d: Dialect, linked: bool = False, **others: str) -> str:
    columns = LINKED if linked else PUSHED
    given = {column: f"%({column})s" for column in columns}
    values = given | {"due_at": f"COALESCE(%(due_at)s, {d.now})"} | others
    return (
        f"INSERT INTO queues_queuedjob ({', '.join([*columns, *ZERO])}) "
        f"SELECT {', '.join([*values.values(), *ZERO.values()])}"
    )
