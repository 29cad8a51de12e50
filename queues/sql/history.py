"""The statement that finds spans of time in which jobs ended."""

LOOKED_AT = 20  # the last jobs of each span; callbacks may stand between them, which no list shows


def spans_with_ends(vendor: str, count: int) -> str:
    """Step into the index of ends once for each span; the ORM would need a query for each."""
    moment = "%s::timestamptz" if vendor == "postgresql" else "%s"
    rows = ", ".join(f"({number}, {moment}, {moment})" for number in range(count))
    return f"""
        WITH span(number, since, until) AS (VALUES {rows})
        SELECT span.number FROM span WHERE EXISTS (
            SELECT 1 FROM (
                SELECT j.parent FROM queues_queuedjob j
                WHERE j.ended_at >= span.since AND j.ended_at < span.until
                ORDER BY j.ended_at DESC LIMIT {LOOKED_AT}
            ) AS newest WHERE newest.parent IS NULL
        )"""  # nosec B608 # of constants only
