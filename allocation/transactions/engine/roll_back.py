"""Roll a claimed transaction back by its journal; a crash at any line can be resumed."""

from collections.abc import Callable

from django.conf import settings
from django.db.transaction import atomic

from allocation.transactions.engine.ends import Restored, finish
from allocation.transactions.engine.operations import Fence
from allocation.transactions.engine.pieces import FAILURES as FAILURES
from allocation.transactions.engine.pieces import Guard as Guard
from allocation.transactions.engine.pieces import RollBack, planned, turn
from allocation.transactions.engine.pieces import claim_seconds as claim_seconds
from allocation.transactions.errors import TransactionIsOver
from allocation.transactions.models import Transaction
from atributo_site.core.events import record
from atributo_site.core.failpoints import failpoint

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 300.0
RecordEnd = Callable[[int], object]


class TakenOver(TransactionIsOver):
    """Somebody else rolls this transaction back now."""

    code = "transaction_taken_over"


def unguarded() -> None:
    """Check nothing, for a caller without a lease: the transaction's epoch fences it."""


def without_event(restored: int) -> None:
    """Record no event if a program rolls its own transaction back: the row tells enough."""


def roll_back(
    pk: int,
    epoch: int,
    guard: Guard = unguarded,
    *,
    delay_ms: int = 0,
    record_end: RecordEnd = without_event,
) -> int:
    """Undo what a claimed transaction wrote and free its locks; return how many keys changed.

    `record_end` records the end, in the database transaction that ends it.
    """
    failpoint("roll_back.before")
    (each,) = planned([Fence(pk, epoch)])
    while each.left and not each.is_taken:
        turn([each], guard, wait=True)
    failpoint("roll_back.after_undo")
    restored: Restored = {}
    if each.is_undone:
        restored = finish([each], guard, delay_ms, lambda ended: record_end(*ended.values()))
    _raise_why(each)
    failpoint("roll_back.after")
    return restored[pk]


def _raise_why(each: RollBack) -> None:
    if each.is_taken:
        raise TakenOver(f"transaction {each.fence.txn} is rolled back by somebody else")
    if each.failure is not None:
        raise each.failure


def mark_stuck(
    pk: int, epoch: int, error: BaseException, guard: Guard = unguarded, **facts: str
) -> None:
    """Keep what cannot be undone with its locks and its error, and try it again later.

    Record nothing if it has ended after all, or if somebody else has claimed it.
    """
    with atomic():
        guard()
        attempts = Transaction.objects.values_list("attempts", flat=True).get(pk=pk) + 1
        failpoint("stuck.before_update")
        seconds = retry_seconds(attempts) - grace_seconds()
        text = f"{type(error).__name__}: {error}"
        if Transaction.objects.mark_stuck(pk, epoch, text, seconds):
            record("transaction.stuck", f"transaction:{pk}", error=str(error), **facts)
        failpoint("stuck.after_update")


def retry_seconds(attempts: int) -> float:
    """Return the pause, which doubles with every failed attempt up to five minutes."""
    return min(FIRST_SECONDS * 2.0 ** min(max(attempts - 1, 0), 40), LONGEST_SECONDS)


def grace_seconds() -> float:
    return settings.ATRIBUTO.additional_timeout_wait_ms / 1000
