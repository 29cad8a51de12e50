"""The statement that finds spans of time in which jobs ended."""

from functools import cache

from atributo_site.core.database import Dialect

LOOKED_AT = 20  # the last jobs of each span; callbacks may stand between them, which no list shows


@cache
def spans_with_ends(d: Dialect) -> str:
    """Step into the index of ends once for each span; the ORM would need a query for each."""
    spans = d.rows("spans", number="int", since="timestamptz", until="timestamptz")
    return f"""
        SELECT span.number FROM {spans} span WHERE EXISTS (
            SELECT 1 FROM (
                SELECT j.parent FROM queues_queuedjob j
                WHERE j.ended_at >= span.since AND j.ended_at < span.until
                ORDER BY j.ended_at DESC LIMIT {LOOKED_AT}
            ) AS newest WHERE newest.parent IS NULL
        )"""  # nosec B608 # of constants and dialect
