"""End transactions that are undone: write the outcome, free the locks, record the event."""

from collections.abc import Callable, Sequence

from django.db.models import Count
from django.db.transaction import atomic

from allocation.transactions.engine.pieces import Guard, RollBack, claim_seconds, isolated
from allocation.transactions.models import Document, JournalEntry, Lock, LockWait, Transaction
from allocation.transactions.store import undo
from atributo_site.core.failpoints import failpoint
from atributo_site.core.models.clock import from_now

Restored = dict[int, int]  # how many keys each transaction got back
RecordEnds = Callable[[Restored], object]


def finish(
    roll_backs: Sequence[RollBack], guard: Guard, delay_ms: int, record_ends: RecordEnds
) -> Restored:
    """End those of which nothing stands; the others are stuck or taken over."""
    ended: Restored = {}

    def end(some: Sequence[RollBack]) -> None:
        ended.update(_finish(some, guard, delay_ms, record_ends))

    for each, error in isolated(roll_backs, end):
        each.failures.append(error)
    return ended


def _finish(
    roll_backs: Sequence[RollBack], guard: Guard, delay_ms: int, record_ends: RecordEnds
) -> Restored:
    """Write the outcome, free locks, end waits and record the events in one transaction."""
    fences = [each.fence for each in roll_backs]
    with atomic():
        guard()
        failpoint("finish.after_guard")
        held = undo.hold(fences, claim_seconds())
        failpoint("finish.after_fence")
        standing = undo.still_standing(fences)
        over = sorted(held - standing.keys())
        Transaction.objects.finish(over)
        failpoint("finish.after_outcome")
        release_locks(over, delay_ms)
        failpoint("finish.after_release")
        restored = _restored(over)
        if restored:
            record_ends(restored)
        failpoint("finish.after_event")
    failpoint("finish.after_commit")
    for each in roll_backs:
        txn = each.fence.txn
        each.is_taken = txn not in held
        if txn in standing:
            each.damaged.append(f"no line tells what {standing[txn]} was before")
    return restored


def release_locks(transactions: Sequence[int], delay_ms: int = 0) -> None:
    """Free every key of transactions, at once or after the lock delay of a dead holder."""
    locks = Lock.objects.filter(transaction__in=transactions)
    if delay_ms:
        held = Document.objects.filter(locks__in=locks)
        held.update(lock_delayed_until=from_now(delay_ms / 1000))
        failpoint("release.after_delay")
    LockWait.objects.filter(transaction__in=transactions).delete()
    failpoint("release.after_waits")
    locks.delete()


def _restored(transactions: Sequence[int]) -> Restored:
    """Count the keys that were restored, also before a crash."""
    lines = JournalEntry.objects.filter(transaction__in=transactions)
    restored = lines.filter(undo=JournalEntry.Undo.RESTORED).order_by()
    counts = restored.values("transaction").annotate(keys=Count("document", distinct=True))
    return dict.fromkeys(transactions, 0) | dict(counts.values_list("transaction", "keys"))
