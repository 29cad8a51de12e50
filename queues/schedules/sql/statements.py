"""What the curator asks about schedules, and how it moves many of them on at once."""

from functools import cache

from atributo_site.core.database import Dialect

ACTIVE = "paused_at IS NULL AND ended_at IS NULL AND next_at IS NOT NULL"
OPEN = "state IN ('waiting', 'pushed')"


@cache
def due(d: Dialect) -> str:
    return f"SELECT 1 FROM queues_schedule WHERE {ACTIVE} AND next_at <= {d.now} LIMIT %(most)s"  # nosec B608 # of constants and dialect


@cache
def next_due(d: Dialect) -> str:
    """The next run that any schedule expects, with the clock."""
    return f"SELECT (SELECT min(next_at) FROM queues_schedule WHERE {ACTIVE}), {d.clock}"  # nosec B608 # of constants and dialect


@cache
def look(d: Dialect) -> str:
    """Ask by one statement whether a run is open, and whether the pause of a schedule is over."""
    return f"""
        SELECT (SELECT 1 FROM queues_scheduledrun WHERE {OPEN} LIMIT 1),
            (SELECT 1 FROM queues_schedule
                WHERE paused_until IS NOT NULL AND paused_until <= {d.now} LIMIT 1)"""  # nosec B608 # of constants and dialect


@cache
def move_on(d: Dialect) -> str:
    """Set what each schedule expects next; the caller holds the rows."""
    rows = d.rows("rows", id="bigint", next_at="timestamptz", pushed="int", is_over="int")
    return f"""
        UPDATE queues_schedule SET next_at = w.next_at, runs = runs + w.pushed,
            ended_at = CASE WHEN w.is_over = 1 THEN {d.now} ELSE ended_at END
        FROM {rows} w WHERE queues_schedule.id = w.id"""  # nosec B608 # of constants and dialect


@cache
def settled(d: Dialect, *, chosen: bool) -> str:
    """Open runs whose job has begun, ended or was deleted, oldest first, with what they know."""
    of = f"AND r.schedule_id {d.among('ids')}" if chosen else ""
    return f"""
        SELECT r.id, r.schedule_id, j.id, j.status, j.started_at, j.ended_at, j.aborted_at, j.error
        FROM queues_scheduledrun r LEFT JOIN queues_queuedjob j ON j.id = r.job_id
        WHERE r.state = 'pushed' AND r.{OPEN} {of} AND (j.id IS NULL OR j.ended_at IS NOT NULL
            OR (r.started_at IS NULL AND j.started_at IS NOT NULL))
        ORDER BY r.schedule_id, r.slot_at LIMIT %(most)s"""  # nosec B608 # of constants and dialect
