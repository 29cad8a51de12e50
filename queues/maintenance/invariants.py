"""The rules that always hold for queues, sticky jobs, runs and their transactions.

Each has a name, a sentence, and a query for the rows that break it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from allocation.models import Allocation
from allocation.transactions.models import Transaction
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize
from queues.logic.lifecycle import FOREVER
from queues.models import AttemptTransaction, HeldPush, Queue, QueuedJob, Run, Slot

MOST = 20
MOST_RUNNING = 10_000
HELD = ("holder", "facts")
Invariant = tuple[str, str, Callable[[], list[str]]]
LATE = timedelta(seconds=10)
NEWEST = 1000  # old rows were looked at when they were new


def run_by_another_instance() -> list[str]:
    """Compare the lease of the slot's holder, which says which instance it serves."""
    leases = Lease.objects.held().filter(role__startswith="worker/")
    serving = {holder: facts.get("instance") for holder, facts in leases.values_list(*HELD)}
    running = QueuedJob.objects.filter(status="progress", sticky_key__isnull=False)
    rows = running.select_related("slot")[:MOST_RUNNING]
    return [
        f"{row.pk} of {row.routed_to} by {row.slot.holder}"
        for row in rows
        if row.slot is not None and serving.get(row.slot.holder, row.routed_to) != row.routed_to
    ][:MOST]


def key_at_two_instances() -> list[str]:
    running = QueuedJob.objects.filter(status="progress", sticky_key__isnull=False).order_by()
    keys = running.values("sticky_key").annotate(n=Count("routed_to", distinct=True))
    return [f"{row['sticky_key']} at {row['n']}" for row in keys.filter(n__gt=1)[:MOST]]


def route_of_the_future() -> list[str]:
    """Find routes that are newer than the placement from which they were read."""
    jobs = QueuedJob.objects.filter(sticky_key__isnull=False, routed_epoch__isnull=False)
    older = Allocation.objects.filter(pk=OuterRef("sticky_key"), epoch__lt=OuterRef("routed_epoch"))
    return [f"{row.pk} at epoch {row.routed_epoch}" for row in jobs.filter(Exists(older))[:MOST]]


STATION_INVARIANTS: list[Invariant] = [
    (
        "sticky elsewhere",
        "No sticky job is in progress on a worker of another instance.",
        run_by_another_instance,
    ),
    (
        "key at two instances",
        "No two instances run jobs of one sticky key at the same time.",
        key_at_two_instances,
    ),
    (
        "route of the future",
        "No sticky job has a route that is newer than the placement of its key.",
        route_of_the_future,
    ),
]


def open_beside_a_later_attempt() -> list[str]:
    """An attempt begins after what earlier ones wrote is rolled back."""
    still_open = Transaction.objects.unfinished().filter(pk=OuterRef("transaction"))
    rows = AttemptTransaction.objects.filter(
        Exists(still_open),
        job__status="progress",
        job__attempt__gt=F("attempt"),
        job__started_at__lt=Now() - LATE,
    )
    return [f"{row.job_id} attempt {row.attempt}: {row.transaction}" for row in rows[:MOST]]


def undelivered_pushes() -> list[str]:
    """Find those that are older than a sweep takes."""
    ended = Transaction.objects.finished().filter(
        pk=OuterRef("transaction"), finished_at__lt=Now() - LATE
    )
    rows = HeldPush.objects.filter(Exists(ended))
    return [f"{row.pk} of transaction {row.transaction}" for row in rows[:MOST]]


TRANSACTION_INVARIANTS = [
    (
        "open beside a later attempt",
        "No attempt runs while a transaction of an earlier one is open.",
        open_beside_a_later_attempt,
    ),
    (
        "undelivered pushes",
        "No push is held long after its transaction ended.",
        undelivered_pushes,
    ),
]


def too_many_running() -> list[str]:
    live = Count("slots", filter=Q(slots__leased_until__gt=Now()))
    rows = Queue.objects.annotate(live=live).filter(live__gt=F("max_workers"))
    return [f"{row.name}: {row.live} of {row.max_workers}" for row in rows[:MOST] if _too_many(row)]


def _too_many(queue: Any) -> bool:
    """Leave out what ran when the limit was lowered: it goes on, and nothing starts above it."""
    changes = Event.objects.filter(subject=f"queue:{queue.name}", facts__has_key="max_workers")
    limits = list(changes.order_by("-id").values_list("facts__max_workers", "at")[:MOST])
    if queue.live > max((limit for limit, _ in limits), default=0):
        return True
    above = QueuedJob.objects.filter(status="progress", slot__number__gte=queue.max_workers)
    return above.filter(slot__queue=queue, started_at__gt=limits[0][1] + LATE).exists()


def progress_without_lease() -> list[str]:
    """Find those that are older than a sweep takes."""
    rows = QueuedJob.objects.filter(status="progress", slot__leased_until__lt=Now() - LATE)
    return [f"{row.pk}" for row in rows[:MOST]]


def held_by_another_epoch() -> list[str]:
    rows = QueuedJob.objects.filter(status="progress").exclude(slot_epoch=F("slot__epoch"))
    return [f"{row.pk} at epoch {row.slot_epoch}" for row in rows[:MOST]]


def gaps_between_attempts() -> list[str]:
    """Look among the newest attempts."""
    newest = Run.objects.order_by("-pk").values("job_id")[:NEWEST]
    rows = Run.objects.filter(job_id__in=list(newest.values_list("job_id", flat=True)))
    of_jobs = rows.order_by().values("job_id", "job__created_at", "job__queue__retention_days")
    jobs = of_jobs.annotate(n=Count("pk"), first=Min("attempt"), last=Max("attempt"))
    now = database_now()
    return [f"{job['job_id']}" for job in jobs.exclude(n=F("last")) if _has_gap(job, now)][:MOST]


def _has_gap(job: Any, now: datetime) -> bool:
    """The first ones may be gone, as far as the queue's retention reaches."""
    old = job["job__created_at"] < now - timedelta(days=job["job__queue__retention_days"])
    return not old or job["n"] != job["last"] - job["first"] + 1


def two_running_attempts() -> list[str]:
    running = Run.objects.filter(outcome="running", job__status__in=["complete", "failed"])
    return [f"{run.job_id} attempt {run.attempt}" for run in running[:MOST]]


def failed_too_often() -> list[str]:
    """A run fails at most once more than was allowed."""
    rows = _newest_jobs().filter(max_failures__gte=0, run_failures__gt=F("max_failures") + 1)
    return [f"{row.pk}: {pluralize(row.run_failures, 'failure')}" for row in rows[:MOST]]


def repeated_too_often() -> list[str]:
    """Whoever resets a finished job allows one more run."""
    allowed = F("repeat_times") + 1 + F("resets")
    rows = _newest_jobs().exclude(repeat_times=FOREVER).filter(runs__gt=allowed)
    return [f"{row.pk}: {pluralize(row.runs, 'run')}" for row in rows[:MOST]]


def called_back_after_abort() -> list[str]:
    """An aborted job pushes no callback."""
    aborted = QueuedJob.objects.filter(pk=OuterRef("parent"), aborted_at__lt=OuterRef("created_at"))
    rows = QueuedJob.objects.filter(
        Exists(aborted), pk__in=_newest(QueuedJob.objects.exclude(parent=None))
    )
    return [f"{row.pk} of {row.parent}" for row in rows[:MOST]]


def due_and_untouched() -> list[str]:
    """Look while a slot is free and a worker idle; a sticky job may wait for its place."""
    working = Slot.objects.exclude(holder="").values("holder").distinct().count()
    if Lease.objects.held().filter(role__startswith="worker/").count() <= working:
        return []
    due = QueuedJob.objects.waiting().filter(
        queue=OuterRef("pk"), sticky_key=None, due_at__lt=Now() - LATE
    )
    free = Slot.objects.filter(queue=OuterRef("pk"), holder="", number__lt=OuterRef("max_workers"))
    rows = Queue.objects.active().filter(Exists(free), Exists(due))
    return [row.name for row in rows[:MOST]]


def _newest_jobs() -> QuerySet[QueuedJob]:
    return QueuedJob.objects.filter(pk__in=_newest(QueuedJob.objects.all()))


def _newest(rows: QuerySet[QueuedJob]) -> list[int]:
    return list(rows.order_by("-pk").values_list("pk", flat=True)[:NEWEST])


def expired_slots() -> list[str]:
    rows = Slot.objects.exclude(holder="").filter(leased_until__lt=Now() - LATE)
    return [f"{row.queue_id}/{row.number} of {row.holder}" for row in rows[:MOST]]


INVARIANTS: list[Invariant] = [
    (
        "too many running",
        "No queue has more live slots than workers allowed.",
        too_many_running,
    ),
    (
        "progress without lease",
        "No job is in progress long after its lease ran out.",
        progress_without_lease,
    ),
    ("expired slots", "No slot is held long after its lease ran out.", expired_slots),
    (
        "held by another epoch",
        "A running job is held at its slot's epoch.",
        held_by_another_epoch,
    ),
    ("gaps between attempts", "Attempts are numbered without gaps.", gaps_between_attempts),
    (
        "finished and running",
        "No finished job has an attempt that still runs.",
        two_running_attempts,
    ),
    ("failed too often", "No run fails more often than its job allows.", failed_too_often),
    ("repeated too often", "No job runs more often than it was told.", repeated_too_often),
    (
        "called back after abort",
        "No aborted job calls anybody back.",
        called_back_after_abort,
    ),
    (
        "due and untouched",
        "No due job waits while a slot is free and a worker idle.",
        due_and_untouched,
    ),
    *STATION_INVARIANTS,
    *TRANSACTION_INVARIANTS,
]
