"""What the active curator does in this room: watch DNS, and remove what is over."""

from contextlib import suppress
from datetime import datetime

from django.conf import settings
from django.db.transaction import atomic

from allocation.errors import EpochChanged
from atributo_site.core.leases import HeldLease
from atributo_site.core.loops import Repair
from atributo_site.core.models.clock import from_now
from pools.models import Backend, BackendChange, PoolSnapshot
from pools.watch.instances import drain_again, forget
from pools.watch.watcher import Watch

BATCH = 100
OLD_BATCH = 1000
SNAPSHOT_KEPT_SECONDS = 600


def remove_gone_backends(now: datetime, lease: HeldLease) -> int:
    """Remove backends that are out of DNS for longer than their grace and have no jobs."""
    count = 0
    for backend in Backend.objects.overdue().select_related("pool").order_by("pk")[:BATCH]:
        with suppress(EpochChanged):  # somebody decides about the instance right now
            count += forget(backend, lease)
    return count


def drain_what_left(now: datetime, lease: HeldLease) -> int:
    """Drain instances that somebody restored although DNS, which decides, does not know them."""
    return sum(drain_again(backend, lease) for backend in Backend.objects.revived()[:BATCH])


def forget_old_changes(now: datetime, lease: HeldLease) -> int:
    """Remove old lines of the timelines, which are kept as long as events are."""
    before = from_now(-settings.ATRIBUTO.event_retention_days * 86400)
    with atomic():
        lease.guard()
        old = BackendChange.objects.filter(at__lt=before).order_by("at")[:OLD_BATCH]
        pks = list(old.values_list("pk", flat=True))
        return BackendChange.objects.filter(pk__in=pks).delete()[0]


def forget_old_snapshots(now: datetime, lease: HeldLease) -> int:
    """Remove the snapshots of processes that have been silent for long."""
    with atomic():
        lease.guard()
        old = PoolSnapshot.objects.filter(at__lt=from_now(-SNAPSHOT_KEPT_SECONDS))
        pks = list(old.values_list("pk", flat=True)[:OLD_BATCH])
        return PoolSnapshot.objects.filter(pk__in=pks).delete()[0]


REPAIRS = [
    Repair("watched names", Watch().sweep, every_seconds=0.5),
    Repair("instances that left DNS", drain_what_left, every_seconds=5, budget=BATCH),
    Repair("gone backends", remove_gone_backends, every_seconds=5, budget=BATCH),
    Repair("old changes of backends", forget_old_changes, every_seconds=60, budget=OLD_BATCH),
    Repair("old pictures of pools", forget_old_snapshots, every_seconds=60, budget=OLD_BATCH),
]
