"""Operate on one document outside of a transaction; list the collections."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef

from allocation.transactions.errors import (
    CollectionKeyIsLocked,
    DocumentNotFound,
    KeyIsContended,
)
from allocation.transactions.models import Document, DocumentVersion, Lock
from allocation.transactions.models.document import new_ref
from allocation.transactions.store import sql, statements
from allocation.transactions.store.keys import Demand, Key, checked_json
from allocation.transactions.store.refusals import why_locked, why_unmet
from allocation.transactions.store.response import Response
from atributo_site.core.database import Row, dialect, execute
from atributo_site.core.errors import ConnectionLost
from atributo_site.core.failpoints import failpoint
from atributo_site.core.retry import retry_busy, surely

# GROUP BY reads every row: 300,000 documents took 2.3 s on SQLite and 0.2 s on PostgreSQL. This
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
Write = Callable[[], list[Row]]
Way = Callable[[Write, Key, str], list[Row]]
TRIES = 20  # if the key changes between an operation and the question why it failed


class Collection(NamedTuple):
    """`documents` is one more than MOST_COUNTED where there are more."""

    name: str
    documents: int


def collections(after: str = "", limit: int = 50) -> tuple[list[Collection], str | None]:
    """Return the collections after a name, ordered by name, and where the next page starts."""
    bounds = {"after": after, "limit": limit + 1, "most": MOST_COUNTED + 1}
    names = [Collection(*row) for row in execute(NAMES, bounds).rows]
    return names[:limit], names[limit - 1].name if len(names) > limit else None


def get(place: Key, raise_if_locked: bool) -> Response:
    """Read value and lock by one statement, so that no uncommitted value is returned."""
    exclusive = Lock.objects.filter(document=OuterRef("pk"), mode="exclusive")
    document = Document.objects.at(*place).annotate(changing=Exists(exclusive)).first()
    if raise_if_locked and document is not None and document.changing:
        raise why_locked(place, "shared") or CollectionKeyIsLocked(*place, None, None)
    if document is None or not document.present:
        return missing(place)
    return Response(200, document.value, **place._asdict(), ref=document.ref)


def get_version(place: Key, ref: str, raise_if_locked: bool) -> Response:
    """Read one version; that of an open transaction only if the caller ignores locks."""
    versions = DocumentVersion.objects.of(*place).filter(ref=ref, present=True)
    version = (versions.committed() if raise_if_locked else versions).first()
    if version is None:
        return missing(place)
    return Response(200, version.value, **place._asdict(), ref=ref)


def missing(place: Key) -> Response:
    error = DocumentNotFound(f"{'/'.join(place)} does not exist", **place._asdict())
    return Response.refused(error, *place)


def put(
    place: Key, value: Any, demand: Demand, raise_if_locked: bool, ref: str | None = None
) -> Response:
    """Under a new ref, or under one that the caller has made to find it by."""
    text = checked_json(value)
    script = statements.plain_put(dialect(), demand.condition, _unless_locked(raise_if_locked))
    failpoint("plain_put.before")
    facts = {"value": text, "present": True}
    return _write(script, place, demand, raise_if_locked, once, ref, 201, **facts)


def delete(
    place: Key, demand: Demand, raise_if_locked: bool, purge: bool, ref: str | None = None
) -> Response:
    script = statements.plain_delete(
        dialect(), demand.condition, _unless_locked(raise_if_locked), purge
    )
    failpoint("plain_delete.before")
    way, facts = way_of(purge), {"value": None, "present": False}
    return _write(script, place, demand, raise_if_locked, way, ref, 204, **facts)


def way_of(purge: bool) -> Way:
    """Without its history nothing keeps a deletion from being done a second time."""
    return _unless_lost if purge else once


def _write(
    script: statements.Script,
    place: Key,
    demand: Demand,
    raise_if_locked: bool,
    way: Way,
    ref: str | None,
    status: int,
    **parameters: Any,
) -> Response:
    ref = ref or new_ref()
    for _ in range(TRIES):
        known = {**place._asdict(), "ref": ref, "if_ref": demand.if_ref, "txn": None}
        written = way(partial(statements.run, script, **known, **parameters), place, ref)
        failpoint("plain.after")
        if written:
            return Response(status, **place._asdict(), ref=ref)
        if raise_if_locked and (locked := why_locked(place, "exclusive")):
            raise locked
        if refusal := why_unmet(place, demand):
            return Response.refused(refusal, *place)
    raise KeyIsContended(f"{'/'.join(place)} changes faster than it can be written")


def once(write: Write, place: Key, ref: str) -> list[Row]:
    """Write once, though an answer got lost: no key has two versions of one ref."""
    versions = DocumentVersion.objects.of(*place).filter(ref=ref).values_list("pk")
    return surely(write, lambda: list(versions) or None)


def _unless_lost(write: Write, place: Key, ref: str) -> list[Row]:
    try:
        return retry_busy(write)
    except ConnectionLost:
        written = list(Document.objects.at(*place).filter(ref=ref).values_list("pk"))
        if not written:
            raise
        return written


def _unless_locked(raise_if_locked: bool) -> str:
    return sql.NOT_LOCKED if raise_if_locked else ""
