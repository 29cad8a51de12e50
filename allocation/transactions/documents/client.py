"""Client: documents by collection and key, with refs, history, relations and events."""

from collections.abc import Sequence
from typing import Any

from allocation.transactions.documents import document_events, documents, listing
from allocation.transactions.documents.argument_names import also_named
from allocation.transactions.documents.document_events import Moment
from allocation.transactions.documents.listing import Pages
from allocation.transactions.documents.patch import Patch, merge, patch
from allocation.transactions.documents.search import Search
from allocation.transactions.errors import DocumentNotFound, InvalidDocument
from allocation.transactions.models import Document, Relation
from allocation.transactions.store import sql
from allocation.transactions.store.keys import Demand, Key, checked_ref, checked_text, new_key
from allocation.transactions.store.response import Response
from atributo_site.core.models.clock import database_now
from atributo_site.core.retry import retry_busy

Ref = str | bool | None
ALL_KEYS: Any = object()  # a key that is left out, which None or an empty text is not
MOST_HOPS = 10


class Client:
    """A missing key or a stale ref raises nothing: ask the response, `raise_for_status()`.

    A key that a transaction holds raises CollectionKeyIsLocked, unless `raise_if_locked` is
    False. A `ref` is a text that must match, False for "create only", or None.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        """Take and ignore the API key and the URL of the hosted store that this replaces."""

    def ping(self) -> Response:
        return Response(200, {"now": database_now().isoformat()})

    def get(
        self, collection: str, key: str, ref: str | None = None, raise_if_locked: bool = True
    ) -> Response:
        place, version = Key.of(collection, key), checked_ref(ref)
        if version is not None:
            return documents.get_version(place, version, raise_if_locked)
        return documents.get(place, raise_if_locked)

    def head(self, collection: str, key: str, ref: str | None = None) -> Response:
        """Return the status and the ref, without the value."""
        response = self.get(collection, key, ref, raise_if_locked=False)
        response.json = {}
        return response

    @also_named(value="body")
    def post(self, collection: str, body: Any) -> Response:
        """Store the value under a new key."""
        return self.put(collection, new_key(), body, ref=False)

    @also_named(value="body")
    def put(
        self,
        collection: str,
        key: str,
        body: Any,
        ref: Ref = None,
        raise_if_locked: bool = True,
    ) -> Response:
        return documents.put(Key.of(collection, key), body, Demand.of(ref), raise_if_locked)

    def delete(
        self,
        collection: str,
        key: str = ALL_KEYS,
        ref: str | None = None,
        raise_if_locked: bool = True,
    ) -> Response:
        """Delete a document; its history stays if a ref is named. Without a key, drop them all."""
        if key is ALL_KEYS:
            return self._drop_all(collection, ref)
        demand = Demand.of(checked_ref(ref), otherwise=sql.PRESENT)
        return documents.delete(Key.of(collection, key), demand, raise_if_locked, purge=not ref)

    @also_named(body_or_patch="operations")
    def patch(
        self,
        collection: str,
        key: str,
        operations: Patch | Sequence[dict[str, Any]],
        ref: str | None = None,
        raise_if_locked: bool = True,
    ) -> Response:
        return patch(Key.of(collection, key), operations, ref, raise_if_locked)

    @also_named(body="changes")
    def patch_merge(
        self,
        collection: str,
        key: str,
        changes: Any,
        ref: str | None = None,
        raise_if_locked: bool = True,
    ) -> Response:
        return merge(Key.of(collection, key), changes, ref, raise_if_locked)

    def refs(self, collection: str, key: str, *, limit: int = 100, values: bool = True) -> Pages:
        """Return the history of a key, newest first."""
        place = Key.of(collection, key)
        return Pages(lambda position: listing.history(place, limit, values, position))

    def list(self, collection: str, *, limit: int = 100, after: str | None = None) -> Pages:
        """Return committed documents in the order of their keys."""
        return Pages(lambda position: listing.listed(collection, limit, position), after)

    def search(
        self,
        collection: str,
        query: str | Search = "*",
        *,
        sort: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> Pages:
        return listing.search_pages(collection, query, sort=sort, limit=limit, offset=offset)

    def drop(self, collection: str) -> Response:
        """Forget a whole collection; refused while one of its keys is locked."""
        return Response(200, {"dropped": listing.drop(collection)}, collection=collection)

    def _drop_all(self, collection: str, ref: str | None) -> Response:
        if ref is not None:
            raise InvalidDocument("a ref is that of a document: name its key")
        return self.drop(collection)

    def get_relations(self, collection: str, key: str, *kinds: str) -> Response:
        return get(Key.of(collection, key), kinds)

    @also_named(relation="kind")
    def put_relation(
        self, collection: str, key: str, kind: str, to_collection: str, to_key: str
    ) -> Response:
        return put(Key.of(collection, key), kind, Key.of(to_collection, to_key))

    @also_named(relation="kind")
    def delete_relation(
        self, collection: str, key: str, kind: str, to_collection: str, to_key: str
    ) -> Response:
        return delete(Key.of(collection, key), kind, Key.of(to_collection, to_key))

    @also_named(event_type="type", data="body")
    def post_event(
        self, collection: str, key: str, type: str, body: Any, timestamp: Moment = None
    ) -> Response:
        return document_events.post(Key.of(collection, key), type, body, timestamp)

    @also_named(event_type="type")
    def get_event(
        self, collection: str, key: str, type: str, timestamp: Moment, ordinal: int
    ) -> Response:
        return document_events.get(Key.of(collection, key), type, timestamp, ordinal)

    @also_named(event_type="type", data="body")
    def put_event(
        self,
        collection: str,
        key: str,
        type: str,
        timestamp: Moment,
        ordinal: int,
        body: Any,
        ref: str | None = None,
    ) -> Response:
        place = Key.of(collection, key)
        return document_events.put(place, type, timestamp, ordinal, body, ref)

    @also_named(event_type="type")
    def delete_event(
        self,
        collection: str,
        key: str,
        type: str,
        timestamp: Moment,
        ordinal: int,
        ref: str | None = None,
    ) -> Response:
        return document_events.delete(Key.of(collection, key), type, timestamp, ordinal, ref)

    @also_named(event_type="type")
    def list_events(self, collection: str, key: str, type: str, *, limit: int = 100) -> Pages:
        place = Key.of(collection, key)
        return Pages(lambda position: document_events.listed(place, type, limit, position))


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
