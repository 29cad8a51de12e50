"""What the active curator does for incidents: open, follow, resolve and, in the end, forget.

A few statements, a glance, show whether a whole look for what is wrong could find anything new.
"""

import time
from collections.abc import Callable, Hashable
from datetime import datetime

from django.conf import settings
from django.db.models import Max
from django.db.transaction import atomic

from allocation.snapshot import late_drains
from allocation.transactions.curator.status import waits_long
from atributo_site.core.leases import HeldLease
from atributo_site.core.loops import Repair
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import from_now
from atributo_site.incidents.rows import settle
from atributo_site.models import Incident
from atributo_site.status import machine
from atributo_site.status.marks import marks
from atributo_site.status.redis import redis_health
from atributo_site.status.snapshot import state_of_everything
from atributo_site.status.symptoms import symptoms
from pools.marks import marks_of_trouble
from queues.queries.backlog import overdue_queues

LONGEST_SECONDS = 10.0  # between two looks, whatever the glances say


def glance() -> Hashable:
    """Return what differs when something begins or ends to be wrong: rows, time, Redis, disk."""
    silent = Lease.objects.filter(role__contains="/", expires_at__lt=from_now(0)).exclude(holder="")
    return (
        tuple(marks(marks_of_trouble).items()),
        Event.objects.aggregate(last=Max("pk"))["last"],
        silent.count(),
        overdue_queues(),
        waits_long().count(),
        tuple(row.pk for row in late_drains()),
        redis_health().state,
        tuple(each.key for each in machine.symptoms({})),
    )


class Glances:
    """Compare each glance with the one before the last look; a new lease always looks."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lease: HeldLease | None = None
        self._seen: Hashable = None
        self._looked_at = 0.0

    def is_news(self, seen: Hashable, lease: HeldLease) -> bool:
        now = self._monotonic()
        is_same = lease is self._lease and seen == self._seen
        if is_same and now - self._looked_at < LONGEST_SECONDS:
            return False
        self._lease, self._seen, self._looked_at = lease, seen, now
        return True


BATCH = 1000
EVERY_SECONDS = 4.5  # so that what is wrong has its row within 5 s


def follow(now: datetime, lease: HeldLease) -> int:
    """Compare what is wrong now with the open rows. This mends nothing."""
    present = symptoms(state_of_everything(now))  # asks Redis: not inside the transaction
    with atomic():
        lease.guard()
        settle(present)
    return 0


def watch(now: datetime, lease: HeldLease) -> int:
    """Follow if anything may differ from the last look, which takes three times the statements."""
    if _glances.is_news(glance(), lease):
        follow(now, lease)
    return 0


_glances = Glances()


def forget_old_incidents(now: datetime, lease: HeldLease) -> int:
    """Keep resolved incidents for as long as events."""
    before = from_now(-settings.ATRIBUTO.event_retention_days * 86400)
    with atomic():
        lease.guard()
        old = Incident.objects.filter(resolved_at__lt=before).order_by("resolved_at")
        return Incident.objects.filter(
            pk__in=list(old.values_list("pk", flat=True)[:BATCH])
        ).delete()[0]


REPAIRS = [
    Repair("incidents", watch, every_seconds=EVERY_SECONDS, budget=1),
    Repair("old incidents", forget_old_incidents, every_seconds=60, budget=BATCH),
]
