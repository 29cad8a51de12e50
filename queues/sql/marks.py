"""The statement that reads what changes when jobs are pushed, start or end."""

from functools import cache

from atributo_site.core.database import Dialect

# Ids that others reserved earlier may be committed later: so many are looked at again.
RECENT = 10_000_000  # ten seconds or more, as a difference of ids
MOST_RECENT = 2000


@cache
def marks(d: Dialect) -> str:
    """Select the newest jobs, the running ones, the counters of two minutes and the operations."""
    jobs = "queues_queuedjob"
    two_minutes_ago = d.in_seconds("two_minutes_ago")
    return f"""
        SELECT newest.*, recent.*, running.*, counted.*, operations.* FROM
        (SELECT max(id) AS n1 FROM {jobs}) newest,
        (SELECT count(*) AS n2 FROM (SELECT id FROM {jobs}
            WHERE id > (SELECT max(id) FROM {jobs}) - {RECENT} LIMIT {MOST_RECENT}) r) recent,
        (SELECT count(*) AS n3, max(started_at) AS n4, sum(attempt) AS n5 FROM {jobs}
            WHERE status = 'progress') running,
        (SELECT sum(started) AS n6, sum(complete) AS n7, sum(failed) AS n8, sum(retried) AS n9
            FROM queues_minutecount WHERE minute >= {two_minutes_ago}) counted,
        (SELECT count(*) AS n10, sum(visited) AS n11 FROM queues_operation
            WHERE ended_at IS NULL) operations
    """  # nosec B608 # of constants and dialect
