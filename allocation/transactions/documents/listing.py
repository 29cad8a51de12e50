"""List and search documents and read histories, page by page."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Q
from django.db.transaction import atomic

from allocation.transactions.documents.search import Search, searched
from allocation.transactions.errors import CollectionKeyIsLocked, InvalidDocument
from allocation.transactions.models import (
    Document,
    DocumentEvent,
    DocumentVersion,
    Lock,
    Relation,
)
from allocation.transactions.models.document import new_ref
from allocation.transactions.store.keys import Key, checked_collection, checked_text
from allocation.transactions.store.response import Response
from atributo_site.core.events import record

MOST = 1000
MOST_SKIPPED = 100_000
Fetch = Callable[[Any], tuple[list[dict[str, Any]], Any]]


def listed(
    collection: str, limit: int, after: str | None = None, *, seen_by: int | None = None
) -> tuple[list[dict[str, Any]], str | None]:
    """Return committed documents in the order of keys, and where the next page starts.

    A transaction also sees what it wrote itself.
    """
    checked_collection(collection)
    documents = Document.objects.filter(collection=collection).committed(seen_by).order_by("key")
    if after:
        documents = documents.filter(key__gt=checked_text(after, "key to go on after"))
    page = list(documents[: checked_limit(limit) + 1])
    return _cut([_result(row) for row in page], limit, lambda last: last["path"]["key"])


def matching_documents(
    collection: str,
    query: str,
    sort: str,
    limit: int,
    offset: int,
    *,
    secrets: bool = True,
    seen_by: int | None = None,
) -> tuple[list[dict[str, Any]], int | None]:
    checked_collection(collection)
    if type(offset) is not int or not 0 <= offset <= MOST_SKIPPED:
        raise InvalidDocument(f"the offset must be from 0 to {MOST_SKIPPED}")
    documents = Document.objects.filter(collection=collection)
    rows = searched(documents, query, sort, secrets=secrets, seen_by=seen_by)
    rows = rows[offset : offset + checked_limit(limit) + 1]
    return _cut([_result(row) for row in rows], limit, lambda _: offset + limit)


def history(
    place: Key, limit: int, values: bool, before: int | None = None
) -> tuple[list[dict[str, Any]], int | None]:
    """Return the committed refs of a key, newest first; none that was rolled back."""
    versions = DocumentVersion.objects.of(*place).committed()
    if before is not None:
        versions = versions.filter(pk__lt=before)
    rows = versions.order_by("-pk")[: checked_limit(limit) + 1]
    results = [_version(place, row, values) for row in rows]
    return _cut(results, limit, lambda last: last["position"])


def drop(collection: str) -> int:
    """Forget a collection with its history, events and relations, unless a key is locked."""
    checked_collection(collection)
    with atomic():
        documents = Document.objects.filter(collection=collection)
        keys = list(documents.select_for_update().order_by("pk").values_list("pk", flat=True))
        lock = Lock.objects.filter(document__collection=collection).with_names().first()
        if lock is not None:
            raise CollectionKeyIsLocked(
                collection, lock.document.key, lock.transaction_id, lock.transaction.expires_at
            )
        DocumentVersion.objects.filter(document__collection=collection).delete()
        DocumentEvent.objects.filter(collection=collection).delete()
        Relation.objects.filter(Q(collection=collection) | Q(to_collection=collection)).delete()
        gone = documents.filter(pk__in=keys).present()
        dropped = gone.update(present=False, value=None, ref=new_ref())
        record("collection.dropped", f"collection:{collection}", documents=dropped)
    return dropped


def checked_limit(limit: int) -> int:
    if type(limit) is not int or not 1 <= limit <= MOST:
        raise InvalidDocument(f"the limit must be from 1 to {MOST}")
    return limit


def _cut(results: list[dict[str, Any]], limit: int, position: Any) -> tuple[list[Any], Any]:
    """Cut off the extra row, which tells whether there is a next page."""
    more = len(results) > limit
    results = results[:limit]
    return results, position(results[-1]) if more else None


def _result(row: Any) -> dict[str, Any]:
    path = {"collection": row.collection, "key": row.key, "ref": row.committed_ref}
    return {"path": path, "value": row.committed_value}


def _version(place: Key, row: DocumentVersion, values: bool) -> dict[str, Any]:
    path = {**place._asdict(), "ref": row.ref, "tombstone": not row.present}
    value = {"value": row.value} if values and row.present else {}
    return {
        "path": path,
        "at": row.at,
        "transaction": row.transaction_id,
        "position": row.pk,
        **value,
    }


class Pages(Iterator[Response]):
    """`fetch(position)` returns the results from a position, and the next position or None."""

    def __init__(self, fetch: Fetch, start: Any = None) -> None:
        self._fetch = fetch
        self._start = start
        self.reset()

    def reset(self) -> None:
        self._positions = [self._start]
        self._at = -1
        self._ended = False

    def __next__(self) -> Response:
        if self._ended:
            raise StopIteration
        self._at += 1
        return self._page()

    def next(self) -> Response:
        return next(self)

    def prev(self) -> Response:
        if self._at <= 0:
            raise StopIteration
        self._at -= 1
        return self._page()

    def all(self) -> list[dict[str, Any]]:
        """Return the results of every page, from the first."""
        self.reset()
        return [result for page in self for result in page["results"]]

    def _page(self) -> Response:
        results, following = self._fetch(self._positions[self._at])
        self._ended = following is None
        if following is not None and len(self._positions) == self._at + 1:
            self._positions.append(following)
        return Response(200, {"count": len(results), "results": results, "next": following})


def search_pages(
    collection: str, query: str | Search, *, seen_by: int | None = None, **words: Any
) -> Pages:
    """Return the pages of a search; what a built query says itself goes before the words."""
    words |= query.words if isinstance(query, Search) else {"query": query}
    first = words.pop("offset")
    return Pages(
        lambda offset: matching_documents(collection, offset=offset, seen_by=seen_by, **words),
        first,
    )
