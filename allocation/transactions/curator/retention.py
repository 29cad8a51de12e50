"""Remove old transactions, waits of those that are over, and old versions except the newest."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q
from django.db.transaction import atomic

from allocation.transactions.models import DocumentVersion, JournalEntry, LockWait, Transaction
from atributo_site.core.failpoints import failpoint
from atributo_site.core.leases import HeldLease

RETENTION_BATCH = 500
PIECE = 2000


def remove_old_transactions(now: datetime, lease: HeldLease) -> int:
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


def end_orphaned_waits(now: datetime, lease: HeldLease) -> int:
    """Remove waits whose transaction is over, which a client that was killed left behind."""
    over = LockWait.objects.filter(transaction__finished_at__isnull=False)
    if not over.exists():
        return 0
    with atomic():
        lease.guard()
        pks = list(over.values_list("pk", flat=True)[:RETENTION_BATCH])
        return LockWait.objects.filter(pk__in=pks).delete()[0]


class OldVersions:
    """Walk through the history in its order, so that no sweep reads more than a piece of it.

    An old version that is the newest of its key stays; the next round looks at it again. So does
    every version of a locked key, since a roll back may give it back.
    """

    def __init__(self) -> None:
        self.position = 0

    def __call__(self, now: datetime, lease: HeldLease) -> int:
        before = now - timedelta(days=settings.ATRIBUTO.version_retention_days)
        piece = self._piece()
        old = [version.pk for version in piece if version.at < before and not version.newest]
        is_last = len(piece) < PIECE or piece[-1].at >= before
        with atomic():
            lease.guard()
            removed = DocumentVersion.objects.filter(pk__in=old).replaced().delete()[0]
            failpoint("versions.after_delete")
        self.position = 0 if is_last else piece[-1].pk
        return removed

    def _piece(self) -> list[Any]:
        """Read the next piece."""
        following = DocumentVersion.objects.filter(pk__gt=self.position).order_by("pk")
        return list(following.annotate(newest=Q(ref=F("document__ref"))).only("at")[:PIECE])
