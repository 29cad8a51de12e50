"""What the curator does for sticky jobs: routes, policies, bells, and what is told of stations."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.transaction import atomic

from allocation.events import record
from allocation.leases import HeldLease
from allocation.models.clock import from_now
from allocation.repair import Repair
from queues.away import follow_policies
from queues.models import Queue, QueuedJob, Station
from queues.routes import send_again, send_waiting
from queues.station_work import ring_stations

BATCH = 100
FORGET_SECONDS = 86_400  # an instance that was away for so long, and nobody waits for it
MOST_COUNTED = 10_000
SHARE = 20  # the look at all routes may take one part in so many of the curator's time
LONGEST_PAUSE_SECONDS = 10.0  # between two looks: one that a standstill made long is an exception


class Routes:
    """Every waiting job is compared with the placement of its key: the longer, the rarer."""

    def __init__(
        self,
        look: Callable[[HeldLease], int] = send_again,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._monotonic = monotonic
        self._not_before = 0.0

    def mend(self, now: datetime, lease: HeldLease) -> int:
        sent = send_waiting(lease)
        begun = self._monotonic()
        if begun < self._not_before:
            return sent
        sent += self._look(lease)
        ended = self._monotonic()
        self._not_before = ended + min(SHARE * (ended - begun), LONGEST_PAUSE_SECONDS)
        return sent


def call_stations(now: datetime, lease: HeldLease) -> int:
    """Delayed sticky jobs whose time has come, and bells that Redis has lost."""
    ring_stations(lease.using)
    return 0


def tell_who_is_away(now: datetime, lease: HeldLease) -> int:
    """One event for each absence: what waits, and by which policy. Nothing is mended."""
    stations = Station.objects.using(lease.using)
    for instance_id in list(stations.untold().values_list("pk", flat=True)[:BATCH]):
        waiting = _waiting(instance_id, lease.using)
        with atomic(using=lease.using):
            lease.guard()
            if stations.untold().filter(pk=instance_id).update(is_told=True):
                subject = f"instance:{instance_id}"
                record("station.away", subject, using=lease.using, waiting=waiting)
    return 0


def forget_stations(now: datetime, lease: HeldLease) -> int:
    """Instances that are long gone, as far as no job waits for them."""
    stations, jobs = Station.objects.using(lease.using), QueuedJob.objects.using(lease.using)
    old = stations.filter(served_until__lt=from_now(-FORGET_SECONDS))
    names = list(old.values_list("pk", flat=True)[:BATCH])
    idle = [name for name in names if not jobs.waiting_at(name).exists()]
    with atomic(using=lease.using):
        lease.guard()
        return old.filter(pk__in=idle).delete()[0]


def _waiting(instance_id: str, using: str) -> dict[str, dict[str, Any]]:
    """Queue → how many of its jobs wait for this instance, and its policy."""
    jobs = QueuedJob.objects.using(using).waiting_at(instance_id)
    counted = {
        queue: jobs.filter(queue=queue)[:MOST_COUNTED].count()
        for queue in Queue.objects.using(using).existing()
    }
    return {
        queue.name: {"jobs": count, "policy": queue.when_away}
        for queue, count in counted.items()
        if count
    }


REPAIRS = [
    Repair("routes of sticky jobs", Routes().mend, every_seconds=0.5),
    Repair("stations that are away", tell_who_is_away, every_seconds=0.5),
    Repair("jobs of instances that are away", follow_policies, every_seconds=0.5),
    Repair("bells of stations", call_stations, every_seconds=0.5),
    Repair("old stations", forget_stations, every_seconds=600),
]
