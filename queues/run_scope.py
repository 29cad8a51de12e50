"""What a run holds until it ends: its transaction and, in a dry run, everything it does."""

from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

from allocation.transactions.client import Client
from queues import left_behind, outbox
from queues.attempt import Attempt
from queues.context import Emit
from queues.dry_client import DryClient
from queues.errors import NotInDryRun
from queues.guarded_client import GuardedClient
from queues.run_transaction import RunTransaction


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
        """In a dry run every push is held from the first line on."""
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
        """A push of an attempt that is over stores nothing."""
        return nullcontext() if self._attempt is None else self._attempt.guarded("push")

    def succeed(self) -> dict[str, Any]:
        """What the parent has to complete with the run's outcome, if it has a job."""
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
        """Roll back before anybody hears of the failure; False when something is left."""
        if self._stack is not None:
            self._stack.close()
        return not left_behind.roll_back(self.begun)

    def _new(self, wait: float) -> RunTransaction:
        txn = RunTransaction(self._attempt, self._owner, wait=wait, dry=self.dry)
        self.begun.append(txn.id)
        self._emit({"t": "transaction", "id": txn.id, "epoch": txn.epoch})
        return txn

    def _take_back(self) -> list[dict[str, str]]:
        """What would have been pushed; then nothing of the run is left."""
        pushes = outbox.described(self.begun)
        if not self.fail():
            raise NotInDryRun("what was written could not be taken back yet; the curator goes on")
        return pushes
