"""Change several documents as one, or none of them."""

import traceback
from collections.abc import Callable
from datetime import datetime
from functools import partial
from threading import Semaphore
from types import TracebackType
from typing import Any, NoReturn, Self, TypeVar

from django.db import DatabaseError, connection

from allocation.transactions.documents import listing
from allocation.transactions.documents.argument_names import also_named
from allocation.transactions.documents.client import Client, Ref
from allocation.transactions.documents.listing import Pages
from allocation.transactions.documents.search import Search
from allocation.transactions.engine import completion, operations
from allocation.transactions.engine.roll_back import FAILURES, RecordEnd, TakenOver, without_event
from allocation.transactions.errors import (
    FailedToComplete,
    FailedToRollBack,
    JobIsCompleted,
    JobIsFailed,
    JobIsRolledBack,
    JobIsTimedOut,
    RollbackCausedByException,
    TransactionIsOver,
)
from allocation.transactions.store import sql
from allocation.transactions.store.keys import Demand, Key, checked_ref, new_key
from allocation.transactions.store.lock_waits import waiting
from allocation.transactions.store.refusals import why_over
from allocation.transactions.store.response import Response
from atributo_site.core.after_commit import after_commit
from atributo_site.core.errors import DatabaseBusy
from atributo_site.core.fencing import count_fenced
from atributo_site.core.retry import retry_busy

T = TypeVar("T")


class Transaction:
    """Lock every key that it touches until it ends. A failing operation rolls it back.

    As a context manager it completes at the end and rolls back on an exception. `wait` is
    how many seconds an operation waits for a key that somebody else holds.
    """

    seats: Semaphore | None = None  # limits how many threads wait at once; None for no limit

    def __init__(self, client: Client | None = None, *, wait: float = 0.0, owner: str = "") -> None:
        self.client = client or Client()
        self.wait = wait
        self._over: TransactionIsOver | None = None
        self._afterwards: list[Callable[[], object]] = []
        self._fence = retry_busy(lambda: operations.begin(owner), repeatable=True)

    @classmethod
    def attach(cls, pk: int, epoch: int = 1) -> Self:
        """Go on with a transaction that another process or request began."""
        txn = cls.__new__(cls)
        txn.client, txn.wait, txn._over = Client(), 0.0, None
        txn._afterwards = []
        txn._fence = operations.Fence(pk, epoch)
        return txn

    @property
    def id(self) -> int:
        return self._fence.txn

    @property
    def epoch(self) -> int:
        return self._fence.epoch

    @property
    def is_completed(self) -> bool:
        return isinstance(self._over, JobIsCompleted)

    @property
    def is_rolled_back(self) -> bool:
        return isinstance(self._over, JobIsRolledBack)

    @property
    def is_failed(self) -> bool:
        return isinstance(self._over, JobIsFailed)

    def get(
        self,
        collection: str,
        key: str,
        ref: str | None = None,
        *,
        shared: bool = False,
        wait: float | None = None,
    ) -> Response:
        """Read a key, now or at a ref, and hold it, alone or together with other readers.

        A key that is missing raises DocumentNotFound; it is held, and the transaction goes on.
        """
        mode = "shared" if shared else "exclusive"

        def act(place: Key) -> Response:
            return operations.get(self._fence, place, mode, checked_ref(ref))

        answer = self._operate(act, collection, key, mode, wait)
        answer.raise_for_status()
        return answer

    def list(self, collection: str, *, limit: int = 100, after: str | None = None) -> Pages:
        """Return what is committed and what the transaction wrote itself; it holds no key."""
        self._verify_active()
        return Pages(partial(listing.listed, collection, limit, seen_by=self.id), after)

    def search(
        self,
        collection: str,
        query: str | Search = "*",
        *,
        sort: str = "",
        limit: int = 100,
        offset: int = 0,
        secrets: bool = True,
    ) -> Pages:
        """Search what is committed and what the transaction wrote itself; it holds no key."""
        self._verify_active()
        words = {"sort": sort, "limit": limit, "offset": offset, "secrets": secrets}
        return listing.search_pages(collection, query, seen_by=self.id, **words)

    @also_named(value="body")
    def post(self, collection: str, body: Any) -> Response:
        """Store the value under a new key, which nobody can have locked."""
        return self.put(collection, new_key(), body, ref=False)

    @also_named(value="body")
    def put(
        self, collection: str, key: str, body: Any, ref: Ref = None, *, wait: float | None = None
    ) -> Response:
        return self._operate(
            lambda place: operations.put(self._fence, place, body, Demand.of(ref)),
            collection,
            key,
            "exclusive",
            wait,
        )

    def delete(
        self, collection: str, key: str, ref: str | None = None, *, wait: float | None = None
    ) -> Response:
        def act(place: Key) -> Response:
            demand = Demand.of(checked_ref(ref), otherwise=sql.PRESENT)
            return operations.delete(self._fence, place, demand)

        return self._operate(act, collection, key, "exclusive", wait)

    def lock(
        self, collection: str, key: str, *, shared: bool = False, wait: float | None = None
    ) -> int:
        """Hold a key without reading it; return its fencing token, to guard something outside."""
        mode = "shared" if shared else "exclusive"
        return self._operate(
            lambda place: operations.lock(self._fence, place, mode), collection, key, mode, wait
        )

    def renew(self) -> datetime:
        """Extend it by a full time, up to the hard limit; return the new end."""
        self._verify()
        expires_at = retry_busy(self._live_on, repeatable=True)
        if expires_at is None:
            self._raise_over(self._why_over())
        return expires_at

    def complete(self) -> None:
        self._verify()
        try:
            completed = self._pass_commit_point()
        except DatabaseError as error:
            completed = self._settle_completion(error)
        if not completed:
            self._raise_over(self._why_over())
        self._over = JobIsCompleted(f"transaction {self.id} is completed")
        for act in self._afterwards:
            after_commit(act)

    def afterwards(self, act: Callable[[], object]) -> None:
        """Call `act` after the completion, which an error of it does not deny.

        A crash loses it, so a repair must do it as well.
        """
        self._afterwards.append(act)

    def _pass_commit_point(self) -> bool:
        return operations.complete(self._fence)

    def roll_back(self) -> None:
        self._verify_active()
        self._undo("requested", None)

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._over is not None:
            return
        if error is None:
            self.complete()
        else:
            self._undo("failed", error)

    def _live_on(self) -> datetime | None:
        return completion.renew(self._fence)

    def _claim_and_undo(self, cause: str) -> None:
        completion.roll_back(self._fence, cause, self._recorder(cause))

    def _recorder(self, cause: str) -> RecordEnd:
        """Return the function that records a rollback."""
        return without_event

    def _operate(
        self,
        act: Callable[[Key], T],
        collection: str,
        key: str,
        mode: str,
        wait: float | None,
    ) -> T:
        self._verify()
        try:
            place = Key.of(collection, key)
            seconds = self.wait if wait is None else wait
            return waiting(lambda: act(place), self.id, place, mode, seconds, self.seats)
        except TransactionIsOver as over:
            self._raise_over(over)
        except FAILURES as error:
            self._undo("failed", error)
            raise RollbackCausedByException(error, traceback.format_exc()) from error

    def _verify(self) -> None:
        if self._over is not None:
            raise self._over

    def _verify_active(self) -> None:
        self._verify()
        if over := why_over(*self._fence):
            self._raise_over(over)

    def _why_over(self) -> TransactionIsOver:
        return why_over(*self._fence) or JobIsFailed(f"transaction {self.id} failed")

    def _raise_over(self, over: TransactionIsOver) -> NoReturn:
        """Remember why it is over; if it timed out, roll back without waiting for the curator."""
        self._over = over
        if over.taken_over:
            count_fenced("transaction", f"transaction:{self.id}", epoch=self.epoch)
        if isinstance(over, JobIsTimedOut):
            self._roll_back_late(over)
        raise over

    def _roll_back_late(self, over: JobIsTimedOut) -> None:
        try:
            self._claim_and_undo("timed_out")
        except TakenOver:  # the curator was faster
            return
        except FAILURES as error:
            raise FailedToRollBack(error, traceback.format_exc(), over, str(over)) from error

    def _undo(self, cause: str, causing: BaseException | None) -> None:
        self._undo_by(lambda: self._claim_and_undo(cause), causing)

    def _undo_by(self, undo: Callable[[], None], causing: BaseException | None) -> None:
        causing_trace = None if causing is None else "".join(traceback.format_exception(causing))
        try:
            undo()
        except TakenOver:
            self._raise_over(self._why_over())
        except FAILURES as error:
            self._over = JobIsFailed(f"transaction {self.id} could not be rolled back")
            raise FailedToRollBack(error, traceback.format_exc(), causing, causing_trace) from error
        self._over = JobIsRolledBack(f"transaction {self.id} is rolled back")

    def _settle_completion(self, error: BaseException) -> bool:
        """Return whether it was completed; if not, claim it so that nobody completes it any more.

        In a database transaction of the caller it was not, since the error rolls that back.
        """
        failed = FailedToComplete(error, traceback.format_exc(), in_doubt=False)
        over = JobIsFailed(f"transaction {self.id} could not be completed")
        if not connection.in_atomic_block:
            try:
                if not completion.claim(self._fence, "failed"):
                    return completion.is_completed(self._fence)
            except (DatabaseError, DatabaseBusy):
                self._over = over
                raise failed.doubted() from error
            self._undo_by(
                lambda: completion.undo_claimed(self._fence, self._recorder("failed")), error
            )
        self._over = over
        raise failed from error
