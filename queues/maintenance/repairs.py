"""What the curator repairs for queues: dead workers, lost bells, routes, old jobs, counters."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count
from django.db.models.functions import Now, TruncMinute
from django.db.transaction import atomic

from atributo_site.core.database import dialect, execute
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.loops import Repair
from atributo_site.core.models.clock import from_now
from queues.flow import expiry, tending
from queues.jobs.operations import advance
from queues.jobs.routing import route_misrouted, route_waiting
from queues.maintenance.absence import follow_policies
from queues.maintenance.links import LINK_REPAIRS
from queues.maintenance.recovery import free_stranded, recover
from queues.maintenance.retention import BATCH, forget_old_attempts, forget_old_jobs
from queues.models import (
    HourCount,
    MinuteCount,
    Operation,
    Queue,
    QueuedJob,
    ScheduledRun,
    ScriptRun,
    Slot,
    Station,
)
from queues.models.schedule import OPEN
from queues.queries.counters import sum_hours
from queues.runs import outbox, turns
from queues.runs.callbacks import follow_ends
from queues.runs.doorbell import queues_to_ring, ring, ring_all
from queues.runs.stations import ring_stations
from queues.schedules.dispatch import dispatch, seconds_to_next
from queues.schedules.following import follow
from queues.sql import looks
from queues.worker.notes_reader import is_reachable

STATION_BATCH = 100
MOST_LINES = 2000  # keys that one sweep looks at
FORGET_SECONDS = 86_400  # after which a station is deleted if no job waits for it
MOST_COUNTED = 10_000
SHARE = 20  # the look at all routes may take one part in so many of the curator's time
LONGEST_PAUSE_SECONDS = 10.0  # between two looks: one that a standstill made long is an exception
FEW = 10  # operations, each with up to a thousand refusals
MINUTES_KEPT = timedelta(days=400)
OPERATIONS_KEPT = timedelta(days=90)
SCRIPT_RUNS_KEPT = timedelta(days=1)
SCHEDULED_RUNS_KEPT = timedelta(days=400)


class Routes:
    """Compare every waiting job with the placement of its key; the longer it takes, the rarer."""

    def __init__(
        self,
        look: Callable[[HeldLease], int] = route_misrouted,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._monotonic = monotonic
        self._not_before = 0.0

    def mend(self, now: datetime, lease: HeldLease) -> int:
        sent = route_waiting(lease) if _any(looks.UNROUTED) else 0
        begun = self._monotonic()
        if begun < self._not_before:
            return sent
        sent += self._look(lease)
        ended = self._monotonic()
        self._not_before = ended + min(SHARE * (ended - begun), LONGEST_PAUSE_SECONDS)
        return sent


class Turns:
    """Give turns that a process that died has not passed on; many keys take several sweeps."""

    def __init__(
        self, most: int = MOST_LINES, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._monotonic = monotonic
        self._not_before = 0.0
        self._last: turns.Line | None = None

    def mend(self, now: datetime, lease: HeldLease) -> int:
        begun = self._monotonic()
        if begun < self._not_before:
            return 0
        idle, self._last = turns.walk(self._last, self._most)
        turns.pass_on_and_ring(idle)
        ended = self._monotonic()
        self._not_before = ended + min(SHARE * (ended - begun), LONGEST_PAUSE_SECONDS)
        return len(idle)


def call_stations(now: datetime, lease: HeldLease) -> int:
    """Ring for delayed sticky jobs that are due, and for bells that Redis has lost."""
    ring_stations()
    return 0


def tell_who_is_away(now: datetime, lease: HeldLease) -> int:
    """Record an event for each absence: what waits, and by which policy. This mends nothing."""
    if not _any(looks.station_away(dialect(), untold=True)):
        return 0
    stations = Station.objects
    for instance_id in list(stations.untold().values_list("pk", flat=True)[:STATION_BATCH]):
        waiting = _waiting(instance_id)
        with atomic():
            lease.guard()
            if stations.untold().filter(pk=instance_id).update(is_told=True):
                subject = f"instance:{instance_id}"
                record("station.away", subject, waiting=waiting)
    return 0


def treat_absences(now: datetime, lease: HeldLease) -> int:
    """Move or fail jobs of instances that are away, if any is."""
    return follow_policies(now, lease) if _any(looks.station_away(dialect())) else 0


def forget_stations(now: datetime, lease: HeldLease) -> int:
    """Delete instances that are long gone, unless a job waits for them."""
    stations, jobs = Station.objects, QueuedJob.objects
    old = stations.filter(served_until__lt=from_now(-FORGET_SECONDS))
    names = list(old.values_list("pk", flat=True)[:STATION_BATCH])
    idle = [name for name in names if not jobs.waiting_at(name).exists()]
    with atomic():
        lease.guard()
        return old.filter(pk__in=idle).delete()[0]


def _waiting(instance_id: str) -> dict[str, dict[str, Any]]:
    """Return how many jobs of each queue wait for this instance, and the queue's policy."""
    jobs = QueuedJob.objects.waiting_at(instance_id)
    counted = {
        queue: jobs.filter(queue=queue)[:MOST_COUNTED].count() for queue in Queue.objects.existing()
    }
    return {
        queue.name: {"jobs": count, "policy": queue.when_away}
        for queue, count in counted.items()
        if count
    }


def go_on_with_operations(now: datetime, lease: HeldLease) -> int:
    return advance(now, lease) if _any(looks.OPERATION) else 0


def _any(look: str) -> bool:
    return bool(execute(look, {}).rows)


STATION_REPAIRS = [
    Repair("routes of sticky jobs", Routes().mend, every_seconds=0.5),
    Repair("turns of keys", Turns().mend, every_seconds=0.5),
    Repair("stations that are away", tell_who_is_away, every_seconds=0.5),
    Repair("jobs of instances that are away", treat_absences, every_seconds=0.5),
    Repair("bells of stations", call_stations, every_seconds=0.5),
    Repair("old stations", forget_stations, every_seconds=600),
]


def recover_dead_workers(now: datetime, lease: HeldLease) -> int:
    recovered = _recover_expired(now, lease) if _any(looks.expired_slot(dialect())) else 0
    return recovered + (free_stranded(lease) if _any(looks.STRANDED) else 0)


def _recover_expired(now: datetime, lease: HeldLease) -> int:
    expired = list(Slot.objects.expired().values_list("pk", flat=True)[:BATCH])
    answers = is_reachable() if expired else False  # asked once: each wait for Redis is long
    return sum(recover(slot, now, lease, redis_answers=answers) for slot in expired)


def ring_for_due_jobs(now: datetime, lease: HeldLease) -> int:
    """Ring for delayed jobs that are due, and for lost bells. This mends nothing."""
    queues = queues_to_ring()
    ring_all([queue_id for queue_id, _, max_workers in queues if max_workers == 1])
    for queue_id, name, max_workers in queues:
        if max_workers > 1:
            due = QueuedJob.objects.filter(queue_id=queue_id).due().shared()
            waiting = len(due.values_list("pk")[:max_workers])
            ring(queue_id, name, waiting)
    return 0


def settle_held_pushes(now: datetime, lease: HeldLease) -> int:
    """Deliver or drop pushes whose transaction has ended, if its client has died."""
    if not _any(looks.HELD_PUSH):
        return 0
    with atomic():
        lease.guard()
        return outbox.deliver_or_drop()


def count_pushes(now: datetime, lease: HeldLease) -> int:
    """Count what was pushed in the last minutes: counting at each push would delay pushers."""
    since = now.replace(second=0, microsecond=0) - timedelta(minutes=2)
    jobs = QueuedJob.objects.visible().filter(created_at__gte=since)
    by_minute = jobs.order_by().annotate(minute=TruncMinute("created_at"))
    counts = by_minute.values("queue_id", "minute").annotate(pushed=Count("pk"))
    rows = [MinuteCount(**count) for count in counts]
    with atomic():
        lease.guard()
        MinuteCount.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["queue", "minute"],
            update_fields=["pushed"],
        )
    return 0


def sum_hours_up(now: datetime, lease: HeldLease) -> int:
    """Sum up the counters of hours. This mends nothing."""
    sum_hours(now, lease)
    return 0


def forget_old_minutes(now: datetime, lease: HeldLease) -> int:
    with atomic():
        lease.guard()
        old = MinuteCount.objects.filter(minute__lt=Now() - MINUTES_KEPT)
        pks = list(old.values_list("pk", flat=True)[:BATCH])
        HourCount.objects.filter(hour__lt=Now() - MINUTES_KEPT).delete()
        return MinuteCount.objects.filter(pk__in=pks).delete()[0]


def forget_old_operations(now: datetime, lease: HeldLease) -> int:
    with atomic():
        lease.guard()
        operations = Operation.objects
        old = operations.filter(ended_at__lt=Now() - OPERATIONS_KEPT).order_by("pk")
        return operations.filter(pk__in=list(old.values_list("pk", flat=True)[:FEW])).delete()[0]


def forget_old_script_runs(now: datetime, lease: HeldLease) -> int:
    with atomic():
        lease.guard()
        runs = ScriptRun.objects
        old = runs.filter(created_at__lt=Now() - SCRIPT_RUNS_KEPT).order_by("created_at")
        return runs.filter(pk__in=list(old.values_list("pk", flat=True)[:BATCH])).delete()[0]


def end_expired_jobs(now: datetime, lease: HeldLease) -> int:
    """End jobs that have not started in time. This mends nothing."""
    if _any(looks.overdue(dialect())):
        with atomic():
            lease.guard()
            ended = expiry.expire_waiting()
        turns.pass_on_and_ring(turns.lines_of(ended))
        follow_ends(ended)
    return 0


class FlowRepair:
    """Wake flows that nobody has woken: their worker died, or several queues share a limit."""

    def __init__(self) -> None:
        self._flows = tending.Flows()

    def mend(self, now: datetime, lease: HeldLease) -> int:
        return self._flows.tend()


def forget_flows(now: datetime, lease: HeldLease) -> int:
    with atomic():
        lease.guard()
        full = tending.forget_full_rates(int(now.timestamp() * 1_000_000), BATCH)
        return full + tending.forget_unused(BATCH)


def forget_old_scheduled_runs(now: datetime, lease: HeldLease) -> int:
    """Remove runs of schedules that ended long ago."""
    with atomic():
        lease.guard()
        runs = ScheduledRun.objects
        old = runs.filter(slot_at__lt=Now() - SCHEDULED_RUNS_KEPT).exclude(OPEN).order_by("slot_at")
        return runs.filter(pk__in=list(old.values_list("pk", flat=True)[:BATCH])).delete()[0]


SCHEDULE_REPAIRS = [
    Repair("schedules", dispatch, every_seconds=0.5, due_in=seconds_to_next),
    Repair("runs of schedules", follow, every_seconds=1.0),
    Repair("old runs of schedules", forget_old_scheduled_runs, every_seconds=3600, budget=BATCH),
]

REPAIRS = [
    *SCHEDULE_REPAIRS,
    Repair("dead workers", recover_dead_workers, every_seconds=0.5, budget=BATCH),
    Repair("bells", ring_for_due_jobs, every_seconds=0.5),
    *STATION_REPAIRS,
    Repair("held pushes", settle_held_pushes, every_seconds=0.5),
    Repair("expired jobs", end_expired_jobs, every_seconds=0.5),
    *LINK_REPAIRS,
    Repair("flows", FlowRepair().mend, every_seconds=0.5),
    Repair("old flows", forget_flows, every_seconds=600, budget=BATCH),
    Repair("push counts", count_pushes, every_seconds=10),
    Repair("old jobs", forget_old_jobs, every_seconds=30, budget=BATCH),
    Repair("old attempts", forget_old_attempts, every_seconds=600, budget=BATCH),
    Repair("hours", sum_hours_up, every_seconds=60),
    Repair("old minutes", forget_old_minutes, every_seconds=3600, budget=BATCH),
    Repair("operations", go_on_with_operations, every_seconds=0.5),
    Repair("old runs of scripts", forget_old_script_runs, every_seconds=600, budget=BATCH),
    Repair("old operations", forget_old_operations, every_seconds=3600, budget=FEW),
]
