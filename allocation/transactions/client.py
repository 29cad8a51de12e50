"""Client: documents by collection and key, with refs, history, relations and events."""

from typing import Any

from allocation.transactions import documents, sql
from allocation.transactions.keys import Demand, Key, new_key
from allocation.transactions.response import Response

Ref = str | bool | None


class Client:
    """Nothing raises for a missing key or a stale ref: ask the response, `raise_for_status()`.

    A key that a transaction holds raises CollectionKeyIsLocked, unless `raise_if_locked` is
    False. A `ref` is a text that must match, False for «create only», or None.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        """Takes and ignores the API key and the URL of the hosted store it replaces."""

    def ping(self) -> Response:
        from allocation.models.clock import database_now

        return Response(200, {"now": database_now().isoformat()})

    def get(
        self, collection: str, key: str, ref: str | None = None, raise_if_locked: bool = True
    ) -> Response:
        place = Key.of(collection, key)
        if ref:
            return documents.get_version(place, ref)
        return documents.get(place, raise_if_locked)

    def head(self, collection: str, key: str, ref: str | None = None) -> Response:
        """The status and the ref, without the value."""
        found = self.get(collection, key, ref, raise_if_locked=False)
        found.json = {}
        return found

    def post(self, collection: str, body: Any) -> Response:
        """Store under a new key that the store makes."""
        return self.put(collection, new_key(), body, ref=False)

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
        self, collection: str, key: str, ref: str | None = None, raise_if_locked: bool = True
    ) -> Response:
        """With a ref the history stays; without one it goes too."""
        demand = Demand.of(ref, otherwise=sql.PRESENT)
        return documents.delete(Key.of(collection, key), demand, raise_if_locked, purge=not ref)
