"""The transaction of a run, whose writes stand once the run has succeeded; and its dry run."""

from contextlib import AbstractContextManager, ExitStack, nullcontext
from types import TracebackType
from typing import Any

from django.db.transaction import atomic

from allocation.transactions.documents.client import Client
from allocation.transactions.engine.transaction import Transaction
from queues.errors import NotInDryRun
from queues.execution.context import Emit
from queues.execution.document_clients import DryClient, GuardedClient
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
