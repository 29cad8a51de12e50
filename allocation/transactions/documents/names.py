"""Find documents by the first letters of their keys, in many collections at once."""

from collections.abc import Iterator

from django.db import connections

from allocation.transactions.models import Document

NEIGHBOURS = 20  # keys read from where a prefix would be: a locale sorts punctuation apart
# One look at the index for each collection; Django refuses limits within a union on SQLite.
LOOK = (
    "SELECT collection, key FROM (SELECT collection, key FROM allocation_document"
    " WHERE collection = %s AND key >= %s AND present ORDER BY key LIMIT %s) AS neighbours"
)


def starting_with(prefixes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Return collection and key of documents whose key begins as the collection's prefix says."""
    if not prefixes:
        return
    wanted = [part for name, prefix in prefixes.items() for part in (name, prefix, NEIGHBOURS)]
    with connections[Document.objects.db].cursor() as cursor:
        cursor.execute(" UNION ALL ".join([LOOK] * len(prefixes)), wanted)
        rows = cursor.fetchall()
    for collection, key in rows:
        if key.startswith(prefixes[collection]):
            yield collection, key
