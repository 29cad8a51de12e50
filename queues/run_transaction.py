"""The transaction of a run: its writes stand when the run has succeeded, and not before."""

from types import TracebackType
from typing import Any

from django.db.transaction import atomic

from allocation.transactions.transaction import Transaction
from queues import outbox
from queues.attempt import Attempt


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
        """Refused and counted once the attempt is over; without effect in a dry run."""
        if self._dry:
            self._verify()
        else:
            super().complete()

    def push(self, queue: str, script: Any, data: Any = None, **options: Any) -> str:
        """A job that appears when this completes, and never otherwise."""
        from queues.catalogue import get

        self._verify()
        with outbox.holding(self.id):
            return get(queue).push(script, data, **options)

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
        """With its pushes, and both while the attempt goes on."""
        with self._attempt.guarded("complete") if self._attempt else atomic():
            completed = super()._pass_commit_point()
            if completed:
                outbox.deliver(self.id)
        return completed
