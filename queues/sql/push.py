"""The statements of a push."""

from functools import cache

from atributo_site.core.database import Dialect
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

REVISION = "COALESCE((SELECT max(revision) FROM queues_catalogue), 0)"

# Queue and installed script of a push. Parameters: mount, script, queue.
FIND_SCRIPT = f"""
    SELECT q.id, s.schema, s.defaults, {REVISION} FROM queues_queue q
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
def push_known(d: Dialect) -> str:
    """One row, while queue and services are those of the definition; none if its key is taken.

    Parameters: those of the row, queue, its name, revision.
    """
    return (
        f"INSERT INTO queues_queuedjob ({', '.join([*PUSHED, *ZERO])}) "
        f"SELECT {_given(d)}, {', '.join(ZERO.values())} FROM queues_queue q "
        f"WHERE q.id = %s AND q.name = %s AND q.deleted_at IS NULL AND {REVISION} = %s "
        "ON CONFLICT DO NOTHING RETURNING id"
    )


@cache
def push_and_ring(d: Dialect) -> str:
    """On PostgreSQL: the row and the mark of the slot to ring at, in one commit.

    Without a slot to ring at, somebody is watched who looks for jobs after this commit.
    Parameters: those of push_known, choose_slots, watch, is_idle.
    """
    return f"""
        WITH pushed AS ({push_known(d)}),
        rung AS ({slots.choose_slots(d, "EXISTS (SELECT 1 FROM pushed)")}),
        watched AS ({slots.watch(d, "NOT EXISTS (SELECT 1 FROM rung)")})
        SELECT pushed.id, rung.id, rung.number, rung.id IS NOT NULL AND {slots.is_idle(d)},
            watched.id IS NOT NULL
        FROM pushed LEFT JOIN rung ON TRUE LEFT JOIN watched ON TRUE"""


@cache
def push_one_of_many(d: Dialect) -> str:
    """SQLite runs a statement for each row without a round trip."""
    return push(d, once=False).removesuffix(" RETURNING id")


@cache
def push_many_postgresql(d: Dialect) -> str:
    """Rows that differ in id and data only."""
    values = _given(d, id="row.id", data="row.data::jsonb")
    return (
        f"INSERT INTO queues_queuedjob ({', '.join([*PUSHED, *ZERO])}) "
        f"SELECT {values}, {', '.join(ZERO.values())} "
        "FROM unnest(%s::bigint[], %s::text[]) AS row(id, data)"
    )


def _given(d: Dialect, **others: str) -> str:
    """What a SELECT takes for the columns of a row: there PostgreSQL must be told of JSON."""
    json = "%s::jsonb" if d.vendor == "postgresql" else "%s"
    special = dict.fromkeys(("data", "back_off", "success", "failure"), json)
    special |= {"due_at": f"COALESCE(%s, {d.now})", **others}
    return ", ".join(special.get(column, "%s") for column in PUSHED)
