"""See by a few statements whether a whole look for what is wrong could find anything new."""

import time
from collections.abc import Callable, Hashable

from django.db.models import Max

from allocation.snapshot import late_drains
from allocation.transactions.curator.status import waits_long
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import from_now
from atributo_site.status import machine
from atributo_site.status.marks import marks
from atributo_site.status.redis import redis_health
from queues.queries.backlog import overdue_queues

LONGEST_SECONDS = 10.0  # between two looks, whatever the glances say


def glance() -> Hashable:
    """Return what differs when something begins or ends to be wrong: rows, time, Redis, disk."""
    silent = Lease.objects.filter(role__contains="/", expires_at__lt=from_now(0)).exclude(holder="")
    return (
        tuple(marks().items()),
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
