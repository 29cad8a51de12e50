"""Read and write dated values of a key. They are not part of transactions."""

import time
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.db.models import Max
from django.db.transaction import atomic

from allocation.transactions.documents.listing import checked_limit
from allocation.transactions.errors import (
    DocumentNotFound,
    InvalidDocument,
    PreconditionFailed,
)
from allocation.transactions.models import DocumentEvent
from allocation.transactions.models.document import new_ref
from allocation.transactions.store.keys import Key, checked_json, checked_ref, checked_text
from allocation.transactions.store.response import Response
from atributo_site.core.retry import surely

Moment = datetime | int | None


def post(place: Key, kind: str, body: Any, moment: Moment) -> Response:
    """Store a new event; its ordinal tells it from others of the same millisecond."""
    checked_json(body)
    row = DocumentEvent(
        **place._asdict(), type=_kind(kind), timestamp_ms=_ms(moment), value=body, ref=new_ref()
    )
    mine = _rows(place, kind).filter(ref=row.ref)
    stored = surely(lambda: _stored(row, mine), mine.first)
    if stored is None:
        return Response.refused(PreconditionFailed("too many events at once"), *place)
    return _response(201, stored)


def _stored(row: DocumentEvent, mine: Any) -> DocumentEvent | None:
    for _ in range(20):
        row.ordinal = _next_ordinal(row)
        try:
            with atomic():
                row.save(force_insert=True)
            return row
        except IntegrityError:  # another took this ordinal, or we did and the answer was lost
            if there := mine.first():
                return there
    return None


def get(place: Key, kind: str, moment: Moment, ordinal: int) -> Response:
    row = _rows(place, kind).filter(timestamp_ms=_ms(moment), ordinal=_ordinal(ordinal)).first()
    return _missing(place) if row is None else _response(200, row)


def put(
    place: Key, kind: str, moment: Moment, ordinal: int, body: Any, ref: str | None
) -> Response:
    checked_json(body)
    rows = _rows(place, kind).filter(timestamp_ms=_ms(moment), ordinal=_ordinal(ordinal))
    if not rows.exists():
        return _missing(place)
    new = new_ref()
    if not _matching(rows, ref).update(value=body, ref=new):
        return Response.refused(PreconditionFailed("the event has another ref"), *place)
    return Response(201, **place._asdict(), ref=new)


def delete(place: Key, kind: str, moment: Moment, ordinal: int, ref: str | None) -> Response:
    rows = _rows(place, kind).filter(timestamp_ms=_ms(moment), ordinal=_ordinal(ordinal))
    if not rows.exists():
        return _missing(place)
    if not _matching(rows, ref).delete()[0]:
        return Response.refused(PreconditionFailed("the event has another ref"), *place)
    return Response(204, **place._asdict())


def listed(
    place: Key, kind: str, limit: int, after: tuple[int, int] | None
) -> tuple[list[dict[str, Any]], tuple[int, int] | None]:
    """Return events, newest first, and the position of the next page."""
    checked_limit(limit)
    rows = _rows(place, kind)
    if after is not None:
        stamp, ordinal = after
        rows = rows.filter(timestamp_ms__lt=stamp) | rows.filter(
            timestamp_ms=stamp, ordinal__lt=ordinal
        )
    page = list(rows[: limit + 1])
    results = [_result(row) for row in page[:limit]]
    last = page[limit - 1] if len(page) > limit else None
    return results, None if last is None else (last.timestamp_ms, last.ordinal)


def _rows(place: Key, kind: str) -> Any:
    return DocumentEvent.objects.filter(**place._asdict(), type=_kind(kind))


def _matching(rows: Any, ref: str | None) -> Any:
    known = checked_ref(ref)
    return rows if known is None else rows.filter(ref=known)


def _next_ordinal(row: DocumentEvent) -> int:
    same = _rows(Key(row.collection, row.key), row.type).filter(timestamp_ms=row.timestamp_ms)
    return (same.aggregate(last=Max("ordinal"))["last"] or 0) + 1


def _ms(moment: Moment) -> int:
    if moment is None:
        return time.time_ns() // 1_000_000
    try:
        ms = round(moment.timestamp() * 1000) if isinstance(moment, datetime) else moment
    except (ValueError, OverflowError) as error:  # no time stamp has this year
        raise InvalidDocument(f"{moment} cannot be stored") from error
    if type(ms) is not int or not (isinstance(moment, datetime) or 0 <= ms < 2**53):
        raise InvalidDocument("a time is a datetime or milliseconds since 1970")
    return ms


def _ordinal(ordinal: Any) -> int:
    if type(ordinal) is not int:
        raise InvalidDocument(f"an ordinal is a whole number, not {ordinal!r}")
    return ordinal


def _kind(kind: Any) -> str:
    return checked_text(kind, "type")


def _response(status: int, row: DocumentEvent) -> Response:
    return Response(
        status,
        {**_result(row)},
        collection=row.collection,
        key=row.key,
        ref=row.ref,
    )


def _result(row: DocumentEvent) -> dict[str, Any]:
    path = {"collection": row.collection, "key": row.key, "type": row.type, "ref": row.ref}
    times = {"timestamp": row.timestamp_ms, "ordinal": row.ordinal}
    return {"path": {**path, **times}, "value": row.value, **times}


def _missing(place: Key) -> Response:
    return Response.refused(DocumentNotFound("there is no such event"), *place)
