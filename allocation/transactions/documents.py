"""Plain operations on one document: each is one short database transaction of its own."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef

from allocation.busy import patiently, surely
from allocation.errors import ConnectionLost
from allocation.failpoints import failpoint
from allocation.transactions import scripts, sql
from allocation.transactions.errors import (
    CollectionKeyIsLocked,
    DocumentNotFound,
    KeyIsContended,
)
from allocation.transactions.keys import Demand, Key, checked_json
from allocation.transactions.models import Document, DocumentVersion, Lock
from allocation.transactions.models.document import new_ref
from allocation.transactions.refusals import why_locked, why_unmet
from allocation.transactions.response import Response

Write = Callable[[], list[scripts.Row]]
Way = Callable[[Write, Key, str], list[scripts.Row]]
TRIES = 20  # a key that changed between an operation and the question why it did not happen


def get(place: Key, raise_if_locked: bool) -> Response:
    """Value and lock are read by one statement, so that no uncommitted value slips through."""
    exclusive = Lock.objects.filter(document=OuterRef("pk"), mode="exclusive")
    document = Document.objects.at(*place).annotate(changing=Exists(exclusive)).first()
    if raise_if_locked and document is not None and document.changing:
        raise why_locked(place, "shared") or CollectionKeyIsLocked(*place, None, None)
    if document is None or not document.present:
        return _missing(place)
    return Response(200, document.value, **place._asdict(), ref=document.ref)


def get_version(place: Key, ref: str, raise_if_locked: bool) -> Response:
    """Only who ignores locks reads what an open transaction wrote; what was rolled back, nobody."""
    versions = DocumentVersion.objects.of(*place).filter(ref=ref, present=True)
    version = (versions.committed() if raise_if_locked else versions).first()
    if version is None:
        return _missing(place)
    return Response(200, version.value, **place._asdict(), ref=ref)


def put(
    place: Key, value: Any, demand: Demand, raise_if_locked: bool, ref: str | None = None
) -> Response:
    """Under a new ref, or under one that the caller has made to find it by."""
    text = checked_json(value)
    script = scripts.plain_put(connection.vendor, demand.condition, _unless_locked(raise_if_locked))
    failpoint("plain_put.before")
    facts = {"value": text, "present": True}
    return _write(script, place, demand, raise_if_locked, once, ref, 201, **facts)


def delete(
    place: Key, demand: Demand, raise_if_locked: bool, purge: bool, ref: str | None = None
) -> Response:
    script = scripts.plain_delete(
        connection.vendor, demand.condition, _unless_locked(raise_if_locked), purge
    )
    failpoint("plain_delete.before")
    way, facts = way_of(purge), {"value": None, "present": False}
    return _write(script, place, demand, raise_if_locked, way, ref, 204, **facts)


def way_of(purge: bool) -> Way:
    """Without its history nothing keeps a deletion from being done a second time."""
    return _unless_lost if purge else once


def _write(
    script: scripts.Script,
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
        written = way(partial(scripts.run, script, **known, **parameters), place, ref)
        failpoint("plain.after")
        if written:
            return Response(status, **place._asdict(), ref=ref)
        if raise_if_locked and (locked := why_locked(place, "exclusive")):
            raise locked
        if refusal := why_unmet(place, demand):
            return Response.refused(refusal, *place)
    raise KeyIsContended(f"{'/'.join(place)} changes faster than it can be written")


def once(write: Write, place: Key, ref: str) -> list[scripts.Row]:
    """No key has two versions of one ref: what was written before its answer got lost stays."""
    versions = DocumentVersion.objects.of(*place).filter(ref=ref).values_list("pk")
    return surely(write, lambda: list(versions) or None)


def _unless_lost(write: Write, place: Key, ref: str) -> list[scripts.Row]:
    try:
        return patiently(write)
    except ConnectionLost:
        written = list(Document.objects.at(*place).filter(ref=ref).values_list("pk"))
        if not written:
            raise
        return written


def _unless_locked(raise_if_locked: bool) -> str:
    return sql.NOT_LOCKED if raise_if_locked else ""


def _missing(place: Key) -> Response:
    error = DocumentNotFound(f"{'/'.join(place)} does not exist", **place._asdict())
    return Response.refused(error, *place)
