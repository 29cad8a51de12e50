"""What an operator may do to a transaction or a lock, with a reason and an event."""

import traceback

from django.conf import settings
from django.db.models import F, Q
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.transactions.engine.ends import release_locks
from allocation.transactions.engine.roll_back import (
    FAILURES,
    TakenOver,
    claim_seconds,
    mark_stuck,
)
from allocation.transactions.engine.roll_back import roll_back as undo
from allocation.transactions.errors import FailedToRollBack, LockNotFound, TransactionNotFound
from allocation.transactions.models import Document, Lock, Transaction
from allocation.transactions.models.document import DocumentQuerySet
from allocation.transactions.models.transaction import TransactionQuerySet
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.core.models.clock import from_now

Status = Transaction.Status


class ReasonMissing(AtributoError):
    status_code = 400
    code = "reason_missing"


class NotPossibleNow(AtributoError):
    """The transaction is over, or somebody else is rolling it back."""

    status_code = 409
    code = "not_possible_now"


def roll_back(pk: int, reason: str) -> int:
    """Roll back a transaction of any owner; return how many keys were restored."""
    row, reason = _unfinished(pk), checked_reason(reason)
    _claim(row, reason)

    def record_end(restored: int) -> None:
        record("transaction.rolled_back", f"transaction:{pk}", reason=reason, restored=restored)

    try:
        return undo(
            pk, row.epoch + 1, delay_ms=settings.ATRIBUTO.lock_delay_ms, record_end=record_end
        )
    except TakenOver:
        raise
    except FAILURES as error:
        mark_stuck(pk, row.epoch + 1, error, reason=reason)
        raise FailedToRollBack(error, traceback.format_exc()) from error


def retry(pk: int, reason: str) -> int:
    """Try now to roll back a stuck transaction, not only after its pause."""
    if _unfinished(pk).status != Status.STUCK:
        raise NotPossibleNow(f"transaction {pk} is not stuck")
    return roll_back(pk, reason)


def complete(pk: int, reason: str) -> None:
    """Keep everything that a transaction wrote so far, and free its locks."""
    row, reason = _unfinished(pk), checked_reason(reason)
    with atomic():
        finished = _claimable(row).update(
            status=Status.COMPLETED,
            epoch=F("epoch") + 1,
            cause=Transaction.Cause.OPERATOR,
            reason=reason,
            finished_at=Now(),
        )
        if not finished:
            raise NotPossibleNow(f"transaction {pk} changed meanwhile")
        release_locks([pk])
        record("transaction.completed", f"transaction:{pk}", reason=reason, was=row.status)


def force_release(pk: int, reason: str) -> None:
    """Free one key; roll its transaction back if it still runs, since it would lose a key."""
    lock, reason = Lock.objects.with_names().filter(pk=pk).first(), checked_reason(reason)
    if lock is None:
        raise LockNotFound(f"there is no lock {pk}")
    if lock.transaction.status == Status.ACTIVE:
        roll_back(lock.transaction_id, reason)
    facts = {"fence": lock.token, "transaction": lock.transaction_id}
    with atomic():
        record("lock.released", f"document:{lock.document}", reason=reason, **facts)
        _delay(Document.objects.filter(pk=lock.document_id))
        Lock.objects.filter(pk=pk).delete()


def _delay(documents: DocumentQuerySet) -> None:
    if settings.ATRIBUTO.lock_delay_ms:
        until = from_now(settings.ATRIBUTO.lock_delay_ms / 1000)
        documents.update(lock_delayed_until=until)


def _unfinished(pk: int) -> Transaction:
    row = Transaction.objects.filter(pk=pk).first()
    if row is None:
        raise TransactionNotFound(f"there is no transaction {pk}")
    if row.finished_at is not None:
        raise NotPossibleNow(f"transaction {pk} is over: {row.status}")
    return row


def _claim(row: Transaction, reason: str) -> None:
    claimable = _claimable(row)
    with atomic():
        claimed = claimable.claim(row.pk, row.epoch, Transaction.Cause.OPERATOR, claim_seconds())
        if not claimed:
            raise NotPossibleNow(f"transaction {row.pk} is being rolled back, or changed meanwhile")
        Transaction.objects.filter(pk=row.pk).update(reason=reason)


def _claimable(row: Transaction) -> TransactionQuerySet:
    """Exclude a transaction that somebody is rolling back at this moment."""
    theirs = Q(status=Status.ROLLING_BACK, expires_at__gt=Now())
    return Transaction.objects.unfinished().filter(pk=row.pk, epoch=row.epoch).exclude(theirs)


def checked_reason(reason: str) -> str:
    text = reason.replace("\x00", "").strip()  # PostgreSQL stores no NUL
    if not text:
        raise ReasonMissing("a reason is missing")
    return text[:2000]
