"""Documents by collection and key; a ref is the version of a document."""

import builtins
from dataclasses import dataclass
from typing import Any, Literal, Unpack

from atributo_client.generated import answers, queries
from atributo_client.operation import Group, S, operation
from atributo_client.steps import Flow, answered, ask, if_match, part


@dataclass(frozen=True)
class Document:
    """A value and the ref of its version."""

    value: Any
    ref: str


class Documents(Group[S]):
    @operation("collections_list")
    def list(
        self, collection: str, *, limit: int = 50, after: str | None = None
    ) -> Flow[answers.Page]:
        """Return documents by key; pass the `next` of a page as `after`."""
        params = {"limit": limit, "after": after}
        return ask("GET", f"collections/{part(collection)}", params=params)

    @operation("collections_list")
    def search(
        self, collection: str, query: str, *, sort: str = "", limit: int = 50, offset: int = 0
    ) -> Flow[answers.Page]:
        """Return what matches, such as "age:>30 AND city:Paris"."""
        params = {"query": query, "sort": sort or None, "limit": limit, "offset": offset}
        return ask("GET", f"collections/{part(collection)}", params=params)

    @operation("collections_post")
    def post(self, collection: str, value: Any) -> Flow[answers.Written]:
        """Store a value under a new key."""
        return ask("POST", f"collections/{part(collection)}", value)

    @operation("collections_drop")
    def drop(self, collection: str) -> Flow[dict[str, Any]]:
        """Forget the whole collection and its history."""
        return ask("DELETE", f"collections/{part(collection)}")

    @operation("documents_get")
    def get(
        self, collection: str, key: str, **options: Unpack[queries.DocumentsGetQuery]
    ) -> Flow[Document]:
        answer = yield from answered("GET", _place(collection, key), params=options)
        return Document(answer.json(), answer.headers["etag"].strip('"'))

    @operation("documents_put")
    def put(
        self,
        collection: str,
        key: str,
        value: Any,
        ref: str | Literal[False] | None = None,
        **options: Unpack[queries.DocumentsPutQuery],
    ) -> Flow[answers.Written]:
        """Store a value; with a ref only over that version, with False only if the key is new."""
        condition = {"If-None-Match": "*"} if ref is False else if_match(ref)
        return ask("PUT", _place(collection, key), value, params=options, headers=condition)

    @operation("documents_patch")
    def patch(
        self,
        collection: str,
        key: str,
        change: dict[str, Any] | builtins.list[Any],
        ref: str | None = None,
        **options: Unpack[queries.DocumentsPatchQuery],
    ) -> Flow[answers.Written]:
        """Apply a merge patch (an object) or a JSON Patch (an array)."""
        headers = if_match(ref)
        return ask("PATCH", _place(collection, key), change, params=options, headers=headers)

    @operation("documents_delete")
    def delete(
        self,
        collection: str,
        key: str,
        ref: str | None = None,
        **options: Unpack[queries.DocumentsDeleteQuery],
    ) -> Flow[None]:
        """With a ref the history stays; without it the history goes too."""
        return ask("DELETE", _place(collection, key), params=options, headers=if_match(ref))

    @operation("collections_refs_retrieve")
    def history(
        self, collection: str, key: str, **options: Unpack[queries.CollectionsRefsRetrieveQuery]
    ) -> Flow[answers.History]:
        """Return the versions of a document, newest first."""
        return ask("GET", f"{_place(collection, key)}/refs", params=options)


def _place(collection: str, key: str) -> str:
    return f"collections/{part(collection)}/{part(key)}"
