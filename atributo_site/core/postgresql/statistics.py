"""Statistics of a table that grows faster than PostgreSQL looks.

Its own look comes up to a minute later. Until then it takes a table that was never analysed for
nearly empty, and any index for as good as the right one.
"""

from typing import Any

from django.db import connections

LEAST_CHANGES = 5000

# Counted since the last look, whoever took it; `reltuples` is below zero before the first one.
IS_OUT_OF_DATE = """
    SELECT s.n_mod_since_analyze >= %(least)s
        AND s.n_mod_since_analyze > 2 * GREATEST(c.reltuples, 0)
    FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE s.relid = to_regclass(%(table)s)"""


def analyse_if_grown(table: str, *, least: int = LEAST_CHANGES, using: str = "default") -> bool:
    """Analyse a table in which twice as many rows have changed as it had; return whether it was.

    So the looks become rarer as the table grows. One that somebody else analyses is left to them.
    """
    connection = connections[using]
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        if not _is_out_of_date(cursor, table, least):
            return False
        cursor.execute(f"ANALYZE (SKIP_LOCKED) {connection.ops.quote_name(table)}")
    return True


def _is_out_of_date(cursor: Any, table: str, least: int) -> bool:
    cursor.execute(IS_OUT_OF_DATE, {"least": least, "table": table})
    row = cursor.fetchone()
    return row is not None and bool(row[0])
