"""The rules that always hold for queues, sticky jobs, runs and their transactions.

Each has a name, a sentence, and a query for the rows that break it.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    Count,
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce, Now

from allocation.models import Allocation
from allocation.transactions.models import Transaction
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now
from atributo_site.core.models.pieces import MOST, InPieces, Lasting, seen_twice
from atributo_site.core.text import pluralize
from queues.logic.flow.admission import Place, bucket_of
from queues.logic.flow.limits import Limit, parsed
from queues.logic.lifecycle import FOREVER
from queues.maintenance.links import LINK_INVARIANTS
from queues.models import AttemptTransaction, HeldPush, Queue, QueuedJob, Run, Script, Slot
from queues.models.job import SERIAL
from queues.runs import turns

MOST_RUNNING = 10_000
HELD = ("holder", "facts")
Rows = QuerySet[Any]
Invariant = tuple[str, str, Callable[[], list[str]] | InPieces | Lasting]
LATE = timedelta(seconds=10)
A_MOMENT = timedelta(seconds=1)  # between the clocks of a worker and of the database
MOST_LINES = 1000


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


def route_of_the_future(rows: Rows) -> list[str]:
    """Find routes that are newer than the placement from which they were read."""
    jobs = rows.filter(sticky_key__isnull=False, routed_epoch__isnull=False)
    older = Allocation.objects.filter(pk=OuterRef("sticky_key"), epoch__lt=OuterRef("routed_epoch"))
    return [f"{row.pk} at epoch {row.routed_epoch}" for row in jobs.filter(Exists(older))[:MOST]]


def routed_elsewhere(rows: Rows) -> list[str]:
    """An epoch is of one placement: whoever was routed at it was routed there."""
    same = Allocation.objects.filter(pk=OuterRef("sticky_key"), epoch=OuterRef("routed_epoch"))
    other = same.exclude(instance_id=OuterRef("routed_to"))
    jobs = rows.filter(Exists(other), sticky_key__isnull=False, routed_epoch__isnull=False)
    return [f"{row.pk} to {row.routed_to} at epoch {row.routed_epoch}" for row in jobs[:MOST]]


def line_without_turn() -> list[str]:
    """Look among the first keys; what became due a moment ago may just be given its turn."""
    idle = turns.walk(None, MOST_LINES).without_turn
    return [f"{line.key} in queue {line.queue_id}" for line in idle if _has_waited(line)][:MOST]


def _has_waited(line: turns.Line) -> bool:
    jobs = QueuedJob.objects.waiting().awake().filter(SERIAL, sticky_key=line.key)
    return jobs.filter(queue=line.queue_id, due_at__lt=Now() - LATE).exists()


STATION_INVARIANTS: list[Invariant] = [
    (
        "sticky elsewhere",
        "No sticky job is in progress on a worker of another instance.",
        seen_twice(run_by_another_instance),
    ),
    (
        "key at two instances",
        "No two instances run jobs of one key at the same time.",
        key_at_two_instances,
    ),
    (
        "route of the future",
        "No sticky job has a route that is newer than the placement of its key.",
        InPieces(QueuedJob, route_of_the_future),
    ),
    (
        "routed elsewhere",
        "No sticky job is routed to another instance than the placement that it names.",
        InPieces(QueuedJob, routed_elsewhere),
    ),
    (
        "line without turn",
        "Jobs of a key never wait for each other while none of them may start.",
        seen_twice(line_without_turn),
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
    known = Transaction.objects.filter(pk=OuterRef("transaction"))
    ended = known.finished().filter(finished_at__lt=Now() - LATE)
    lost = Q(~Exists(known), created_at__lt=Now() - LATE)
    rows = HeldPush.objects.filter(lost | Exists(ended))
    return [f"{row.pk} of transaction {row.transaction}" for row in rows[:MOST]]


def held_and_pushed() -> list[str]:
    job = QueuedJob.objects.filter(pk=OuterRef("pk"))
    rows = HeldPush.objects.filter(Exists(job))
    return [f"{row.pk} of transaction {row.transaction}" for row in rows[:MOST]]


def complete_and_rolled_back(rows: Rows) -> list[str]:
    """A script may take back what it wrote, or outlive its time, before its run completes."""
    this = {"job": OuterRef("job"), "attempt": OuterRef("attempt"), "outcome": "complete"}
    run = Run.objects.filter(**this)
    its_end = Coalesce(Subquery(run.values("ended_at")[:1]), F("job__ended_at"))
    noted = rows.filter(Exists(run) | Q(job__status="complete", attempt=F("job__attempt")))
    undone = Transaction.objects.filter(pk=OuterRef("transaction"), status="rolled_back")
    later = undone.filter(finished_at__gt=OuterRef("its_end")).exclude(cause="timed_out")
    wrong = noted.annotate(its_end=ExpressionWrapper(its_end + A_MOMENT, DateTimeField()))
    wrong = wrong.filter(Exists(undone.filter(cause="")) | Exists(later))
    return [f"{row.job_id} attempt {row.attempt}: {row.transaction}" for row in wrong[:MOST]]


TRANSACTION_INVARIANTS: list[Invariant] = [
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
    ("held and pushed", "No push is held and delivered.", held_and_pushed),
    (
        "complete and rolled back",
        "No run is complete whose transaction was rolled back instead.",
        InPieces(AttemptTransaction, complete_and_rolled_back),
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


def held_by_nothing() -> list[str]:
    """Find jobs whose slot is not there, or belongs to another queue."""
    slot = Slot.objects.filter(pk=OuterRef("slot_id"), queue=OuterRef("queue"))
    rows = QueuedJob.objects.filter(~Exists(slot), slot__isnull=False)
    return [f"{row.pk} by slot {row.slot_id}" for row in rows[:MOST]]


def gaps_between_attempts(rows: Rows) -> list[str]:
    jobs = rows.order_by("pk").values("pk", "created_at", "queue__retention_days")
    numbers = {"n": Count("attempts"), "first": Min("attempts__attempt")}
    counted = jobs.annotate(**numbers, last=Max("attempts__attempt"))
    now = database_now()
    return [f"{job['pk']}" for job in counted.exclude(n=F("last")) if _has_gap(job, now)][:MOST]


def _has_gap(job: Any, now: datetime) -> bool:
    """The first ones may be gone, as far as the queue's retention reaches."""
    if job["last"] is None:
        return False
    old = job["created_at"] < now - timedelta(days=job["queue__retention_days"])
    return not old or job["n"] != job["last"] - job["first"] + 1


def attempts_of_the_future(rows: Rows) -> list[str]:
    later = rows.filter(attempt__gt=F("job__attempt"))
    return [f"{run.job_id} attempt {run.attempt}" for run in later[:MOST]]


def complete_without_a_run(rows: Rows) -> list[str]:
    run = Run.objects.filter(job=OuterRef("pk"), attempt=OuterRef("attempt"), outcome="complete")
    jobs = rows.filter(~Exists(run), status="complete")
    return [f"{row.pk} attempt {row.attempt}" for row in jobs[:MOST]]


def two_running_attempts(rows: Rows) -> list[str]:
    running = rows.filter(outcome="running", job__status__in=["complete", "failed"])
    return [f"{run.job_id} attempt {run.attempt}" for run in running[:MOST]]


def failed_too_often(rows: Rows) -> list[str]:
    """A run fails at most once more than was allowed."""
    jobs = rows.filter(max_failures__gte=0, run_failures__gt=F("max_failures") + 1)
    return [f"{row.pk}: {pluralize(row.run_failures, 'failure')}" for row in jobs[:MOST]]


def repeated_too_often(rows: Rows) -> list[str]:
    """Whoever resets a finished job allows one more run."""
    allowed = F("repeat_times") + 1 + F("resets")
    jobs = rows.exclude(repeat_times=FOREVER).filter(runs__gt=allowed)
    return [f"{row.pk}: {pluralize(row.runs, 'run')}" for row in jobs[:MOST]]


def called_back_after_abort(rows: Rows) -> list[str]:
    """An aborted job pushes no callback."""
    aborted = QueuedJob.objects.filter(pk=OuterRef("parent"), aborted_at__lt=OuterRef("created_at"))
    jobs = rows.filter(Exists(aborted), parent__isnull=False)
    return [f"{row.pk} of {row.parent}" for row in jobs[:MOST]]


def due_and_untouched() -> list[str]:
    """Look while a slot is free and a worker idle; a sticky job may wait for its place."""
    working = Slot.objects.exclude(holder="").values("holder").distinct().count()
    if Lease.objects.held().filter(role__startswith="worker/").count() <= working:
        return []
    due = QueuedJob.objects.waiting().filter(
        queue=OuterRef("pk"), sticky_key=None, flow_id=None, due_at__lt=Now() - LATE
    )
    free = Slot.objects.filter(queue=OuterRef("pk"), holder="", number__lt=OuterRef("max_workers"))
    rows = Queue.objects.active().filter(Exists(free), Exists(due))
    return [row.name for row in rows[:MOST]]


def expired_slots() -> list[str]:
    rows = Slot.objects.exclude(holder="").filter(leased_until__lt=Now() - LATE)
    return [f"{row.queue_id}/{row.number} of {row.holder}" for row in rows[:MOST]]


def over_a_limit() -> list[str]:
    """Count what has started since the limits were last changed; what ran before goes on."""
    queues = Queue.objects.filter(limits__isnull=False)
    found = [
        line
        for queue in queues
        for line in _over(
            f"queue {queue.pk}",
            parsed(queue.limits),
            QueuedJob.objects.filter(queue=queue, started_at__gt=queue.limits_at),
        )
    ]
    for script in Script.objects.filter(limits__isnull=False).select_related("service"):
        mount, name = script.service.mount, script.name
        jobs = QueuedJob.objects.of_script(mount, name)
        since = jobs.filter(started_at__gt=script.limits_at)
        found += _over(f"script {mount}/{name}", parsed(script.limits), since)
    return found[:MOST]


def _over(scope: str, limits: tuple[Limit, ...], jobs: Any) -> list[str]:
    columns = ("queue_id", "flow_key", "mount", "script", "ran_on")
    running = jobs.filter(status="progress", flow_id__isnull=False).values_list(*columns)
    places = [
        Place(str(queue), key or "", f"{mount}/{script}", host or "")
        for queue, key, mount, script, host in running[:MOST_RUNNING]
    ]
    lines = []
    for limit in (limit for limit in limits if limit.at_once is not None):
        counts = Counter(bucket_of(scope, limit, place) for place in places)
        lines += [
            f"{bucket[0]}, {bucket[1]} {bucket[2]}: {count} of {limit.at_once}"
            for bucket, count in counts.items()
            if count > (limit.at_once or 0)
        ]
    return lines


INVARIANTS: list[Invariant] = [
    ("over a limit", "No more jobs run at once than a limit allows.", over_a_limit),
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
    ("held by nothing", "Every job that is held is held by a slot of its queue.", held_by_nothing),
    (
        "attempt of the future",
        "No job has an attempt that it has not begun.",
        InPieces(Run, attempts_of_the_future),
    ),
    (
        "complete without a run",
        "Every complete job has a run that completed it.",
        InPieces(QueuedJob, complete_without_a_run),
    ),
    (
        "gaps between attempts",
        "Attempts are numbered without gaps.",
        InPieces(QueuedJob, gaps_between_attempts),
    ),
    (
        "finished and running",
        "No finished job has an attempt that still runs.",
        InPieces(Run, two_running_attempts),
    ),
    (
        "failed too often",
        "No run fails more often than its job allows.",
        InPieces(QueuedJob, failed_too_often),
    ),
    (
        "repeated too often",
        "No job runs more often than it was scheduled.",
        InPieces(QueuedJob, repeated_too_often),
    ),
    (
        "called back after abort",
        "No aborted job starts a callback.",
        InPieces(QueuedJob, called_back_after_abort),
    ),
    (
        "due and untouched",
        "No due job waits while a slot is free and a worker is idle.",
        due_and_untouched,
    ),
    *LINK_INVARIANTS,
    *STATION_INVARIANTS,
    *TRANSACTION_INVARIANTS,
]
