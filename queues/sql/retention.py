"""The statements that find what is older than its queue keeps, in all queues at once."""

from functools import cache

from atributo_site.core.database import Dialect

FINISHED = "j.status IN ('complete', 'failed')"


@cache
def queues_with_old_jobs(d: Dialect) -> str:
    """Select the queues with a finished job beyond their retention, the longest overdue first.

    It steps into the index of ended jobs once for each queue.
    """
    first = (
        f"SELECT j.ended_at FROM queues_queuedjob j WHERE j.queue_id = q.id AND {FINISHED} "
        "ORDER BY j.ended_at LIMIT 1"  # nosec B608 # of constants and dialect
    )
    return f"""
        SELECT id, retention_days FROM (
            SELECT q.id, q.retention_days, ({first}) AS first_end FROM queues_queue q
        ) ended
        WHERE first_end < {_border(d, "retention_days")} ORDER BY first_end"""  # nosec B608 # of constants and dialect


@cache
def jobs_with_old_attempts(d: Dialect) -> str:
    """Select unfinished jobs whose first attempt is beyond the retention of their queue.

    `shortest_days` is the shortest retention of all: it lets an index find jobs that are old.
    """
    first = "SELECT r.ended_at FROM queues_run r WHERE r.job_id = j.id ORDER BY r.attempt LIMIT 1"
    return f"""
        SELECT j.id, q.retention_days
        FROM queues_queuedjob j JOIN queues_queue q ON q.id = j.queue_id
        WHERE j.created_at < {_border(d, "%(shortest_days)s")}
        AND j.status IN ('pending', 'progress') AND j.attempt > 1
        AND j.created_at < {_border(d, "q.retention_days")}
        AND ({first}) < {_border(d, "q.retention_days")}
        LIMIT %(jobs)s"""  # nosec B608 # of constants and dialect


def _border(d: Dialect, days: str) -> str:
    seconds = d.in_seconds("seconds")
    return seconds.replace("%(seconds)s", f"(-86400.0 * {days})")
