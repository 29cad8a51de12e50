"""Read and write named relations between keys. They are not part of transactions."""

from typing import Any

from allocation.transactions.errors import DocumentNotFound, InvalidDocument
from allocation.transactions.models import Document, Relation
from allocation.transactions.store.keys import Key, checked_text
from allocation.transactions.store.response import Response
from atributo_site.core.retry import retry_busy

MOST_HOPS = 10


def put(place: Key, kind: str, to: Key) -> Response:
    for end in (place, to):
        if not Document.objects.at(*end).committed().exists():
            return Response.refused(DocumentNotFound(f"{'/'.join(end)} does not exist"), *end)
    columns = _columns(place, kind, to)
    retry_busy(lambda: Relation.objects.get_or_create(**columns), repeatable=True)
    return Response(204, **place._asdict())


def delete(place: Key, kind: str, to: Key) -> Response:
    deleted, _ = Relation.objects.filter(**_columns(place, kind, to)).delete()
    if not deleted:
        return Response.refused(DocumentNotFound("there is no such relation"), *place)
    return Response(204, **place._asdict())


def get(place: Key, kinds: tuple[str, ...]) -> Response:
    """Return the keys that are reached by following one relation of each kind, hop by hop."""
    if not 1 <= len(kinds) <= MOST_HOPS:
        raise InvalidDocument(f"name from 1 to {MOST_HOPS} kinds of relations")
    reached = {place}
    for kind in kinds:
        reached = {end for start in reached for end in _ends(start, kind)}
    results = [_result(end) for end in sorted(reached)]
    return Response(200, {"count": len(results), "results": results}, **place._asdict())


def _ends(start: Key, kind: str) -> list[Key]:
    rows = Relation.objects.filter(**start._asdict(), kind=_kind(kind))
    return [Key(*row) for row in rows.values_list("to_collection", "to_key")]


def _columns(place: Key, kind: str, to: Key) -> dict[str, Any]:
    return {
        **place._asdict(),
        "kind": _kind(kind),
        "to_collection": to.collection,
        "to_key": to.key,
    }


def _kind(kind: Any) -> str:
    return checked_text(kind, "kind")


def _result(end: Key) -> dict[str, Any]:
    document: Any = Document.objects.at(*end).committed().first()
    path = {**end._asdict(), "ref": document.committed_ref if document else None}
    return {"path": path, "value": document.committed_value if document else None}
