"""Ended: in which spans of time jobs ended that are there to be listed, in one query."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

LOOKED_AT = 20  # of each span, the last ones; between them may stand callbacks, which no list has

Span = tuple[datetime, datetime]  # from the first up to the second


def with_ended_jobs(spans: Sequence[Span]) -> set[Span]:
    """Those in which a job ended that still exists: runs of one that repeats leave none."""
    if not spans:
        return set()
    adapted = connection.ops.adapt_datetimefield_value  # SQLite compares texts
    moments = [adapted(moment) for span in spans for moment in span]
    with connection.cursor() as cursor:
        cursor.execute(_sql(len(spans)), moments)
        return {spans[number] for (number,) in cursor.fetchall()}


def _sql(count: int) -> str:
    """A step into the index of ends for each; with the ORM it would be a query for each."""
    moment = "%s::timestamptz" if connection.vendor == "postgresql" else "%s"
    rows = ", ".join(f"({number}, {moment}, {moment})" for number in range(count))
    return f"""
        WITH span(number, since, until) AS (VALUES {rows})
        SELECT span.number FROM span WHERE EXISTS (
            SELECT 1 FROM (
                SELECT j.parent FROM queues_queuedjob j
                WHERE j.ended_at >= span.since AND j.ended_at < span.until
                ORDER BY j.ended_at DESC LIMIT {LOOKED_AT}
            ) AS newest WHERE newest.parent IS NULL
        )"""
