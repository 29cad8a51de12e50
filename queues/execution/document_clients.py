"""The documents of a run: a write commits only while the attempt counts.

What a dry run writes is rolled back, outside a transaction, too.
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from allocation.transactions.documents.argument_names import also_named
from allocation.transactions.documents.client import ALL_KEYS, Client, Ref
from allocation.transactions.documents.patch import Patch
from allocation.transactions.engine.transaction import Transaction
from allocation.transactions.errors import PreconditionFailed
from allocation.transactions.logic.patch import merged, patched
from allocation.transactions.store.response import Response
from queues.errors import NotInDryRun
from queues.runs.attempt import Attempt


class DryClient(Client):
    """Reads see what the run wrote; writes go through its transaction, the rest is refused."""

    def __init__(self, transaction: Callable[[], Transaction]) -> None:
        super().__init__()
        self._transaction = transaction

    def get(
        self, collection: str, key: str, ref: str | None = None, raise_if_locked: bool = True
    ) -> Response:
        return super().get(collection, key, ref, raise_if_locked=False)

    @also_named(value="body")
    def put(
        self,
        collection: str,
        key: str,
        body: Any,
        ref: Ref = None,
        raise_if_locked: bool = True,
    ) -> Response:
        current = self.get(collection, key)
        if (ref is False and current.ok) or (ref and current.ref != ref):
            refusal = PreconditionFailed(f"{collection}/{key} is not as expected", ref=current.ref)
            return Response.refused(refusal, collection, key)
        return self._transaction().put(collection, key, body)

    def delete(
        self,
        collection: str,
        key: str = ALL_KEYS,
        ref: str | None = None,
        raise_if_locked: bool = True,
    ) -> Response:
        if key is ALL_KEYS:
            self._refused()
        current = self.get(collection, key)
        if not current.ok:
            return current
        return self._transaction().delete(collection, key, ref)

    @also_named(body_or_patch="operations")
    def patch(
        self,
        collection: str,
        key: str,
        operations: Patch | Sequence[dict[str, Any]],
        ref: str | None = None,
        raise_if_locked: bool = True,
    ) -> Response:
        steps = operations.operations if isinstance(operations, Patch) else operations
        return self._changed(collection, key, lambda value: patched(value, steps), ref)

    @also_named(body="changes")
    def patch_merge(
        self,
        collection: str,
        key: str,
        changes: Any,
        ref: str | None = None,
        raise_if_locked: bool = True,
    ) -> Response:
        return self._changed(collection, key, lambda value: merged(value, changes), ref)

    def _changed(
        self, collection: str, key: str, change: Callable[[Any], Any], ref: str | None
    ) -> Response:
        current = self.get(collection, key)
        return self.put(collection, key, change(current.json), ref) if current.ok else current

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise NotInDryRun("a dry run may change only documents: this could not be undone")

    drop = put_relation = delete_relation = _refused
    post_event = put_event = delete_event = _refused


def _guarded(name: str) -> Callable[..., Any]:
    write = getattr(Client, name)

    def guarded(self: "GuardedClient", *args: Any, **kwargs: Any) -> Any:
        with self.attempt.guarded(name):
            return write(self, *args, **kwargs)

    return guarded


class GuardedClient(Client):
    """Every change asks the job's row first, in the same database transaction."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__()
        self.attempt = attempt

    put = _guarded("put")
    delete = _guarded("delete")
    patch = _guarded("patch")
    patch_merge = _guarded("patch_merge")
    drop = _guarded("drop")
    put_relation = _guarded("put_relation")
    delete_relation = _guarded("delete_relation")
    post_event = _guarded("post_event")
    put_event = _guarded("put_event")
    delete_event = _guarded("delete_event")
