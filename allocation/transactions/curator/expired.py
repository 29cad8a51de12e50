"""Roll back expired transactions and free orphaned locks, a bounded number per sweep."""

from datetime import datetime

from django.conf import settings
from django.db.transaction import atomic

from allocation.transactions.engine.roll_back import (
    FAILURES,
    TakenOver,
    claim_seconds,
    mark_stuck,
    roll_back,
)
from allocation.transactions.models import Lock, Transaction
from atributo_site.core.errors import LeaseLost
from atributo_site.core.events import record
from atributo_site.core.failpoints import failpoint
from atributo_site.core.leases import HeldLease

BATCH = 100


def expired_transactions(now: datetime, lease: HeldLease) -> int:
    """Roll back what expired or was left half-way; one that fails does not hold up others."""
    failpoint("curate.before")
    overdue = Transaction.objects.overdue(now).order_by("expires_at")
    rows = list(overdue.values_list("pk", "epoch", "status")[:BATCH])
    failpoint("curate.after_list")
    return sum(_curate(pk, epoch, status, now, lease) for pk, epoch, status in rows)


def free_orphaned_locks(now: datetime, lease: HeldLease) -> int:
    """Free locks whose transaction is over already."""
    with atomic():
        lease.guard()
        failpoint("orphans.after_guard")
        orphans = list(Lock.objects.orphaned().with_names()[:BATCH])
        for lock in orphans:
            record(
                "lock.orphan_freed",
                f"document:{lock.document}",
                fence=lock.token,  # masking would hide a "token"
                transaction=lock.transaction_id,
            )
        freed = Lock.objects.filter(pk__in=[lock.pk for lock in orphans]).delete()[0]
        failpoint("orphans.after_delete")
    return freed


def _curate(pk: int, epoch: int, status: str, now: datetime, lease: HeldLease) -> int:
    if not _claim(pk, epoch, now, lease):  # completed, renewed or taken meanwhile
        return 0
    failpoint("curate.after_claim")

    def record_end(restored: int) -> None:
        record("transaction.curated", f"transaction:{pk}", was=status, restored=restored)

    try:
        delay_ms = settings.ATRIBUTO.lock_delay_ms
        roll_back(pk, epoch + 1, lease.guard, delay_ms=delay_ms, record_end=record_end)
    except LeaseLost:
        raise
    except TakenOver:  # an operator or another sweep was faster
        return 0
    except FAILURES as error:
        mark_stuck(pk, epoch + 1, error, lease.guard)
        return 0
    failpoint("curate.after_roll_back")
    return 1


def _claim(pk: int, epoch: int, now: datetime, lease: HeldLease) -> bool:
    """Claim the transaction if it is still overdue; the list may be old by now."""
    with atomic():
        lease.guard()
        failpoint("claim.after_guard")
        overdue = Transaction.objects.overdue(now)
        claimed = overdue.claim(pk, epoch, Transaction.Cause.TIMED_OUT, claim_seconds())
        failpoint("claim.after_update")
    return claimed
