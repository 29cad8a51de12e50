"""Find out why an operation wrote nothing; this is only read after it has failed."""

from django.db.models import F, Q
from django.db.models.functions import Now

from allocation.transactions.errors import (
    CollectionKeyIsLocked,
    DocumentNotFound,
    JobIsCompleted,
    JobIsRolledBack,
    JobIsTimedOut,
    PreconditionFailed,
    TransactionIsOver,
)
from allocation.transactions.models import Document, Lock, Transaction
from allocation.transactions.store import sql
from allocation.transactions.store.keys import Demand, Key
from atributo_site.core.errors import AtributoError


def why_over(txn: int, epoch: int) -> TransactionIsOver | None:
    """Return that it has ended, was taken over or has expired; None while it is active."""
    row = Transaction.objects.filter(pk=txn).annotate(late=Q(expires_at__lte=Now())).first()
    if row is None:
        return JobIsRolledBack(f"transaction {txn} is no longer known")
    if row.status == Transaction.Status.COMPLETED:
        return JobIsCompleted(f"transaction {txn} is completed")
    if row.status != Transaction.Status.ACTIVE or row.epoch != epoch:
        if row.cause == Transaction.Cause.TIMED_OUT:
            over: TransactionIsOver = JobIsTimedOut(
                f"transaction {txn} ran out of time and is rolled back"
            )
        else:
            over = JobIsRolledBack(f"transaction {txn} is rolled back ({row.cause})")
        over.taken_over = row.epoch != epoch
        return over
    if row.late:
        return JobIsTimedOut(f"transaction {txn} ran longer than it may")
    return None


def why_locked(place: Key, mode: str, txn: int | None = None) -> CollectionKeyIsLocked | None:
    """Return who prevents a lock of this mode: a holder, or the delay after a dead one."""
    locks = Lock.objects.on(*place).exclude(transaction=txn).against(mode)
    facts = {"until": F("transaction__expires_at"), "owner": F("transaction__owner")}
    holder = locks.annotate(**facts).first()
    if holder is not None:
        return CollectionKeyIsLocked(*place, holder.transaction_id, holder.until, holder.owner)
    delayed = Document.objects.at(*place).filter(lock_delayed_until__gt=Now())
    until = delayed.values_list("lock_delayed_until", flat=True).first()
    return None if until is None else CollectionKeyIsLocked(*place, None, until)


def why_unmet(place: Key, demand: Demand) -> AtributoError | None:
    """Return that the key is missing, exists already, or has another ref."""
    document = Document.objects.at(*place).present().first()
    name = "/".join(place)
    if demand.condition in (sql.PRESENT, sql.SAME_REF) and document is None:
        if demand == Demand(sql.PRESENT):
            return DocumentNotFound(f"{name} does not exist", collection=place[0], key=place[1])
        return PreconditionFailed(f"{name} does not exist", ref=None)
    if demand.condition == sql.ABSENT and document is not None:
        return PreconditionFailed(f"{name} exists already", ref=document.ref)
    if demand.condition == sql.SAME_REF and document is not None and document.ref != demand.if_ref:
        return PreconditionFailed(f"{name} has another ref: {document.ref}", ref=document.ref)
    return None
