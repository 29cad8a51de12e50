"""What the one active curator mends here, a bounded number per sweep."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.transaction import atomic

from allocation.transactions.engine.roll_back import (
    FAILURES,
    TakenOver,
    claim_seconds,
    mark_stuck,
    roll_back,
)
from allocation.transactions.models import JournalEntry, Lock, Transaction
from atributo_site.core.errors import LeaseLost
from atributo_site.core.events import record
from atributo_site.core.failpoints import failpoint
from atributo_site.core.leases import HeldLease

BATCH = 100
RETENTION_BATCH = 500


def expired_transactions(now: datetime, lease: HeldLease) -> int:
    """Roll back what ran out of time or was left half-way; one that fails holds up no other."""
    failpoint("curate.before")
    overdue = Transaction.objects.overdue(now).order_by("expires_at")
    rows = list(overdue.values_list("pk", "epoch", "status")[:BATCH])
    failpoint("curate.after_list")
    return sum(_curate(pk, epoch, status, now, lease) for pk, epoch, status in rows)


def orphaned_locks(now: datetime, lease: HeldLease) -> int:
    """Free locks whose transaction is over already."""
    with atomic():
        lease.guard()
        failpoint("orphans.after_guard")
        orphans = list(Lock.objects.orphaned().with_names()[:BATCH])
        for lock in orphans:
            record(
                "lock.orphan_freed",
                f"document:{lock.document}",
                fence=lock.token,  # as «token» it would be masked
                transaction=lock.transaction_id,
            )
        freed = Lock.objects.filter(pk__in=[lock.pk for lock in orphans]).delete()[0]
        failpoint("orphans.after_delete")
    return freed


def retention(now: datetime, lease: HeldLease) -> int:
    """Remove finished transactions and their journals once they are old."""
    days = settings.ATRIBUTO.transaction_retention_days
    old = Transaction.objects.finished().filter(finished_at__lt=now - timedelta(days=days))
    with atomic():
        lease.guard()
        pks = list(old.order_by("finished_at").values_list("pk", flat=True)[:RETENTION_BATCH])
        JournalEntry.objects.filter(transaction__in=pks).delete()
        failpoint("retention.after_journal")
        Transaction.objects.filter(pk__in=pks).delete()
    return len(pks)


def _curate(pk: int, epoch: int, status: str, now: datetime, lease: HeldLease) -> int:
    if not _claim(pk, epoch, now, lease):  # completed, renewed or taken meanwhile
        return 0
    failpoint("curate.after_claim")

    def tell(restored: int) -> None:
        record("transaction.curated", f"transaction:{pk}", was=status, restored=restored)

    try:
        delay_ms = settings.ATRIBUTO.lock_delay_ms
        roll_back(pk, epoch + 1, lease.guard, delay_ms=delay_ms, tell=tell)
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
    """The row is asked again: a listing may be old by now."""
    with atomic():
        lease.guard()
        failpoint("claim.after_guard")
        overdue = Transaction.objects.overdue(now)
        claimed = overdue.claim(pk, epoch, Transaction.Cause.TIMED_OUT, claim_seconds())
        failpoint("claim.after_update")
    return claimed
