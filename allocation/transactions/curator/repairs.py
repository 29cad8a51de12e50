"""The repairs of transactions: as a list for `run_curator`, and run by a public Curator."""

import threading
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import OperationalError
from django.db.models import F, Q
from django.db.transaction import atomic

from allocation.transactions.curator.expired import BATCH, expired_transactions, free_orphaned_locks
from allocation.transactions.curator.status import ROLE
from allocation.transactions.documents.client import Client
from allocation.transactions.models import DocumentVersion, JournalEntry, LockWait, Transaction
from atributo_site.core.availability.outages import outages
from atributo_site.core.errors import DatabaseBusy, LeaseLost
from atributo_site.core.failpoints import failpoint
from atributo_site.core.leases import HeldLease, this_process
from atributo_site.core.loops import Repair
from atributo_site.core.models.clock import database_now

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
    every version of a locked key, since a rollback may give it back.
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


REPAIRS = [
    Repair("expired transactions", expired_transactions, every_seconds=0.25, budget=BATCH),
    Repair("orphaned locks", free_orphaned_locks, budget=BATCH),
    Repair("orphaned waits", end_orphaned_waits, budget=RETENTION_BATCH),
    Repair("old transactions", remove_old_transactions, every_seconds=60, budget=RETENTION_BATCH),
    Repair("old versions", OldVersions(), every_seconds=5, budget=PIECE // 2),
]
WAITS = "curator_waits_for_the_database"
PAUSE_SECONDS = 0.25


class Curator:
    """Compete for the lease and repair transactions while it is held, in a program of your own.

    `manage.py run_curator` does the same for every room.
    """

    def __init__(self, client: Client | None = None, name: str = "") -> None:
        self.client = client or Client()
        self.name = name or this_process()
        self.lease: HeldLease | None = None
        self.curated = 0
        self._stop = threading.Event()

    @property
    def is_active(self) -> bool:
        return self.lease is not None

    def run(self) -> None:
        """Compete for the lease, repair while it is held, hand it over when stopped."""
        while not self._stop.is_set():
            self._stop.wait(self._round())
        self.resign()

    def _round(self) -> float:
        """Run a step; survive a database that is away for a while."""
        try:
            pause = self.step(database_now())
        except (OperationalError, DatabaseBusy) as error:
            outages.warn(WAITS, error)
            return settings.ATRIBUTO.curator_inactivity_delay_ms / 1000
        outages.succeeded(WAITS)
        return pause

    def stop(self) -> None:
        self._stop.set()

    def step(self, now: datetime) -> float:
        """Run one round; return the seconds until the next. Standbys look at every heartbeat."""
        was_active, env = self.is_active, settings.ATRIBUTO
        if not self._hold_lease():
            lost, standby = env.curator_inactivity_delay_ms, env.curator_heartbeat_interval_ms
            return (lost if was_active else standby) / 1000
        try:
            return 0.0 if self.curate(now, self.lease) else PAUSE_SECONDS
        except LeaseLost:
            self.lease = None
            return env.curator_inactivity_delay_ms / 1000

    def curate(self, now: datetime, lease: HeldLease | None) -> int:
        """Run every repair once with a held lease; return how much was repaired."""
        if lease is None:
            raise LeaseLost("only the active curator may do this")
        curated = sum(repair.run(now, lease) for repair in REPAIRS)
        self.curated += curated
        return curated

    def resign(self) -> None:
        if self.lease is not None:
            self.lease.release()
            self.lease = None

    def _hold_lease(self) -> bool:
        seconds = settings.ATRIBUTO.curator_heartbeat_timeout_ms / 1000
        if self.lease is None:
            self.lease = HeldLease.take(ROLE, self.name, seconds)
            return self.is_active
        try:
            self.lease.renew()
        except LeaseLost:
            self.lease = None
        return self.is_active
