"""The transaction and the documents of a run, whose writes stand once the run has succeeded.

A write outside the transaction commits only while the attempt counts. What a dry run writes is
rolled back, outside a transaction, too.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from types import TracebackType
from typing import Any, NoReturn

from django.db.transaction import atomic

from allocation.transactions.documents.argument_names import also_named
from allocation.transactions.documents.client import ALL_KEYS, Client, Ref
from allocation.transactions.documents.patch import Patch
from allocation.transactions.engine.transaction import Transaction
from allocation.transactions.errors import PreconditionFailed
from allocation.transactions.logic.patch import merged, patched
from allocation.transactions.store.response import Response
from queues.errors import NotInDryRun
from queues.execution.context import Emit
from queues.runs import abandoned, outbox
from queues.runs.attempt import Attempt


class RunTransaction(Transaction):
    """As a context manager it rolls back on an exception; the run's success completes it.

    `complete()` is a checkpoint: what was written so far stands even if the run fails later.
    """

    def __init__(self, attempt: Attempt | None, owner: str, *, wait: float, dry: bool) -> None:
        self._attempt = attempt
        self._dry = dry
        self._blocks: list[Any] = []
        if attempt is None:
            super().__init__(wait=wait, owner=owner)
        else:
            self._begin(attempt, owner, wait)

    @property
    def is_open(self) -> bool:
        return self._over is None

    def complete(self) -> None:
        """Complete it; refused and counted once the attempt is over, ignored in a dry run."""
        if self._dry:
            self._verify()
        else:
            super().complete()

    def push(self, queue: str, script: Any, *arguments: Any, **options: Any) -> str:
        """Push a job that appears when this completes, and never otherwise."""
        from queues.catalogue import get

        self._verify()
        with outbox.holding(self.id):
            return get(queue).push(script, *arguments, **options)

    def __enter__(self) -> "RunTransaction":
        block = outbox.holding(self.id)
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._blocks.pop().__exit__(None, None, None)
        if error is not None and self.is_open:
            self._undo("failed", error)

    def _begin(self, attempt: Attempt, owner: str, wait: float) -> None:
        with attempt.guarded("begin"):
            attempt.mark()
            super().__init__(wait=wait, owner=owner)
            attempt.note(self.id)

    def _pass_commit_point(self) -> bool:
        """Complete it with its pushes, while the attempt goes on."""
        with self._attempt.guarded("complete") if self._attempt else atomic():
            completed = super()._pass_commit_point()
            if completed:
                outbox.deliver(self.id)
        return completed


class RunScope:
    """One transaction at a time: asked for again, it is the one that is open already."""

    def __init__(self, work: dict[str, Any], emit: Emit) -> None:
        self.dry = bool(work.get("dry_run"))
        self.begun: list[int] = []
        self._attempt = Attempt.of(work)
        self._owner = f"job:{work['job']['id']}" if work.get("job") else f"script:{work['mount']}"
        self._emit = emit
        self._transaction: RunTransaction | None = None
        self._stack: ExitStack | None = None  # of a dry run

    def start(self) -> None:
        """Hold every push of a dry run from the first line on."""
        if self.dry:
            self._stack = ExitStack()
            self._stack.enter_context(outbox.holding(self.transaction().id))

    def transaction(self, wait: float = 0.0) -> RunTransaction:
        if self._transaction is None or not self._transaction.is_open:
            self._transaction = self._new(wait)
        self._transaction.wait = wait
        return self._transaction

    def client(self) -> Client:
        if self.dry:
            return DryClient(self.transaction)
        return Client() if self._attempt is None else GuardedClient(self._attempt)

    def pushing(self) -> AbstractContextManager[None]:
        """Let a push of an attempt that is over store nothing."""
        return nullcontext() if self._attempt is None else self._attempt.guarded("push")

    def succeed(self) -> dict[str, Any]:
        """Return what the parent has to complete with the run's outcome, if it has a job."""
        if self._stack is not None:
            self._stack.close()
        open_one = self._transaction if self._transaction and self._transaction.is_open else None
        if self.dry:
            return {"transactions": self.begun, "pushes": self._take_back()}
        if open_one is None:
            return {}
        if self._attempt is not None:
            return {"transaction": [open_one.id, open_one.epoch]}
        open_one.complete()
        return {}

    def fail(self) -> bool:
        """Roll back before the failure is reported; False when something is left."""
        if self._stack is not None:
            self._stack.close()
        return not abandoned.roll_back(self.begun)

    def _new(self, wait: float) -> RunTransaction:
        txn = RunTransaction(self._attempt, self._owner, wait=wait, dry=self.dry)
        self.begun.append(txn.id)
        self._emit({"t": "transaction", "id": txn.id, "epoch": txn.epoch})
        return txn

    def _take_back(self) -> list[dict[str, str]]:
        """Return what would have been pushed, and roll back all of the run."""
        pushes = outbox.described(self.begun)
        if not self.fail():
            raise NotInDryRun("the changes could not be undone yet; the curator will retry")
        return pushes


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
