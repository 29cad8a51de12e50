"""The names of collections, however many documents they have."""

from typing import NamedTuple

from django.db import connection

# GROUP BY reads every row: of 300,000 documents in 2.3 s on SQLite and 0.2 s on PostgreSQL. This
# jumps from name to name along the unique index, and counts the documents of each to a limit.
NAMES = """
WITH RECURSIVE names(name, number) AS (
    SELECT MIN(collection), 1 FROM allocation_document WHERE collection > %(after)s
    UNION ALL
    SELECT (SELECT MIN(d.collection) FROM allocation_document d WHERE d.collection > names.name),
        number + 1
    FROM names WHERE names.name IS NOT NULL AND number < %(limit)s
)
SELECT name, (
    SELECT COUNT(*) FROM (
        SELECT 1 FROM allocation_document d
        WHERE d.collection = names.name AND d.present LIMIT %(most)s
    ) AS counted
)
FROM names WHERE name IS NOT NULL ORDER BY number"""
MOST_COUNTED = 1000


class Collection(NamedTuple):
    """`documents` is one more than MOST_COUNTED where there are more."""

    name: str
    documents: int


def collections(after: str = "", limit: int = 50) -> tuple[list[Collection], str | None]:
    """The collections behind a name, in the order of names, and the name to go on after."""
    bounds = {"limit": limit + 1, "most": MOST_COUNTED + 1}
    with connection.cursor() as cursor:
        cursor.execute(NAMES, {"after": after, **bounds})
        found = [Collection(*row) for row in cursor.fetchall()]
    return found[:limit], found[limit - 1].name if len(found) > limit else None
