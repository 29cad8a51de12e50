"""Roll a transaction back by its journal; a crash at any line can be resumed."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.db.models import JSONField, Value
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.transactions.errors import TransactionIsOver
from allocation.transactions.logic.undo import Image, Restore, plan
from allocation.transactions.models import (
    Document,
    DocumentVersion,
    JournalEntry,
    Lock,
    LockWait,
    Transaction,
)
from allocation.transactions.models.document import new_ref
from atributo_site.core.errors import AtributoError, LeaseLost
from atributo_site.core.events import record
from atributo_site.core.failpoints import failpoint
from atributo_site.core.models.clock import from_now

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 300.0
Guard = Callable[[], None]
RecordEnd = Callable[[int], object]
FAILURES = (DatabaseError, AtributoError, ValueError, TypeError)


class AsWritten(json.JSONEncoder):
    """Store text unescaped, as every other write does: a search on SQLite compares names."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "ensure_ascii": False})


class TakenOver(TransactionIsOver):
    """Somebody else rolls this transaction back now."""

    code = "transaction_taken_over"


def unguarded() -> None:
    """Check nothing, for a caller without a lease: the transaction's epoch fences it."""


def claim_seconds() -> float:
    """Return how long a roll back may be silent before a curator takes it over."""
    return settings.ATRIBUTO.max_job_time_ms / 1000


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
    restored = _undo_all(pk, epoch, guard)
    failpoint("roll_back.after_undo")
    _finish(pk, epoch, guard, delay_ms, partial(record_end, restored))
    failpoint("roll_back.after")
    return restored


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
        seconds = retry_seconds(attempts) - _grace_seconds()
        text = f"{type(error).__name__}: {error}"
        if Transaction.objects.mark_stuck(pk, epoch, text, seconds):
            record("transaction.stuck", f"transaction:{pk}", error=str(error), **facts)
        failpoint("stuck.after_update")


def retry_seconds(attempts: int) -> float:
    """Return the pause, which doubles with every failed attempt up to five minutes."""
    return min(FIRST_SECONDS * 2.0 ** min(max(attempts - 1, 0), 40), LONGEST_SECONDS)


def _grace_seconds() -> float:
    return settings.ATRIBUTO.additional_timeout_wait_ms / 1000


def _plan(pk: int) -> list[Restore]:
    """Return what is left to restore, so that a resumed roll back goes on."""
    journal = JournalEntry.objects.filter(transaction=pk).not_undone()
    return plan(entry.write() for entry in journal)


def _undo_all(pk: int, epoch: int, guard: Guard) -> int:
    """Restore every key; one that fails does not hold up the others."""
    restored = 0
    failures: list[BaseException] = []
    for restore in _plan(pk):
        try:
            restored += _undo(pk, epoch, restore, guard)
        except (LeaseLost, TransactionIsOver):
            raise
        except FAILURES as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return restored


def _undo(pk: int, epoch: int, restore: Restore, guard: Guard) -> bool:
    """Restore one key in one database transaction, unless somebody else wrote it since."""
    with atomic():
        guard()
        failpoint("undo.after_guard")
        _hold(pk, epoch)
        failpoint("undo.after_fence")
        DocumentVersion.objects.undo(pk, restore.key)
        restored = _restore(pk, restore)
        failpoint("undo.after_restore")
        outcome = JournalEntry.Undo.RESTORED if restored else JournalEntry.Undo.LEFT_ALONE
        JournalEntry.objects.filter(transaction=pk, document=restore.key).update(undo=outcome)
        failpoint("undo.after_mark")
    failpoint("undo.after_commit")
    return restored


def _restore(pk: int, restore: Restore) -> bool:
    ref = new_ref()
    image = restore.image
    untouched = Document.objects.filter(pk=restore.key, ref=restore.expected_ref)
    if not untouched.update(
        present=image.present,
        value=_column(image),
        ref=ref,
        updated_at=Now(),
    ):
        return False
    failpoint("undo.after_document")
    DocumentVersion.objects.create(
        document_id=restore.key,
        ref=ref,
        present=image.present,
        value=_column(image),
        transaction_id=pk,
    )
    return True


def _column(image: Image) -> Any:
    """Return the value to store; a stored null is a value, a missing key has none."""
    return Value(image.value, JSONField(encoder=AsWritten)) if image.present else None


def _finish(
    pk: int, epoch: int, guard: Guard, delay_ms: int, record_end: Callable[[], object]
) -> None:
    """Write the outcome, free locks, end waits and record the event in one transaction."""
    with atomic():
        guard()
        failpoint("finish.after_guard")
        _hold(pk, epoch)
        failpoint("finish.after_fence")
        Transaction.objects.finish(pk, epoch, Transaction.Status.ROLLED_BACK)
        failpoint("finish.after_outcome")
        release_locks(pk, delay_ms)
        failpoint("finish.after_release")
        record_end()
        failpoint("finish.after_event")
    failpoint("finish.after_commit")


def release_locks(pk: int, delay_ms: int = 0) -> int:
    """Free every key of a transaction, at once or after the lock delay of a dead holder."""
    locks = Lock.objects.filter(transaction=pk)
    if delay_ms:
        held = Document.objects.filter(locks__in=locks)
        held.update(lock_delayed_until=from_now(delay_ms / 1000))
        failpoint("release.after_delay")
    LockWait.objects.filter(transaction=pk).delete()
    failpoint("release.after_waits")
    return locks.delete()[0]


def _hold(pk: int, epoch: int) -> None:
    """Lock the row, so that nobody else claims it before this database transaction commits."""
    claimed = Transaction.objects.unfinished().filter(
        pk=pk, epoch=epoch, status=Transaction.Status.ROLLING_BACK
    )
    if not claimed.update(expires_at=from_now(claim_seconds())):
        raise TakenOver(f"transaction {pk} is rolled back by somebody else")
