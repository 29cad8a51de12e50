"""Run what is due up to a moment, in this process, with the statements that workers use.

Time is not waited for. What is due later is moved to now, run, and what follows from it is moved
back, so that every row has the moment that it would have.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.db.transaction import atomic

from atributo_site.core.errors import LeaseLost
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from queues.maintenance.links import Links
from queues.maintenance.recovery import recover
from queues.maintenance.repairs import FlowRepair, end_expired_jobs, settle_held_pushes
from queues.models import Flow, Gate, QueuedJob, Rate, Run, Schedule, Slot
from queues.runs.doorbell import silence
from queues.runs.ids import get_job_ids
from queues.runs.slots import acquire, free_slots_with_work
from queues.schedules.dispatch import dispatch_batch
from queues.schedules.following import follow
from queues.testing.faults import WorkerKilled
from queues.testing.inline_child import InlineChild
from queues.worker.slot_runner import SlotRunner

__all__ = ["Ran", "run_due", "silence"]
WORKER = "testing"
MOST_RUNS = 10_000
MOST_LINKED = 1_000_000
MOST_SCHEDULED = 100  # jobs of schedules between two looks
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Ran:
    """One attempt."""

    job_id: str
    mount: str
    script: str
    attempt: int
    outcome: str
    error: str
    result: Any


def run_due(
    until: datetime | timedelta | None = None,
    *,
    queues: Sequence[str] | None = None,
    most: int = MOST_RUNS,
) -> list[Ran]:
    """Run what is due up to a moment, by default now; return the attempts in their order.

    AssertionError after `most` attempts: a job that repeats at once would never end.
    """
    start = database_now()
    last = start if until is None else start + until if isinstance(until, timedelta) else until
    known = set(Run.objects.order_by().values_list("id", flat=True))
    moved = timedelta()
    with silence():
        try:
            while True:
                looked_at = _run_due_now(queues, known, most, moved)
                step = _next_step(queues, looked_at, last, moved)
                if step is None:
                    break
                _shift(-step)
                moved += step
        finally:
            _shift(moved)
    runs = Run.objects.exclude(pk__in=known).select_related("job").order_by("id")
    return [_ran(run) for run in runs]


def _run_due_now(
    queues: Sequence[str] | None, known: set[int], most: int, moved: timedelta
) -> datetime:
    """Run until nothing more may start; return the moment of the last look."""
    while True:
        looked_at = _curate(moved)
        found = free_slots_with_work()
        slots = [each for each in found if queues is None or each[0] in queues]
        if not slots:
            return looked_at
        for queue, number in slots:
            _run_one(queue, number)
            if Run.objects.count() - len(known) > most:
                raise AssertionError(f"more than {most} attempts were made; the jobs do not end")


def _curate(moved: timedelta) -> datetime:
    """Do what a curator does: in the transaction of a test nothing follows a commit."""
    with _curating() as lease:
        now = database_now()
        _dispatch(now, moved)
        follow(now, lease)
        settle_held_pushes(now, lease)
        end_expired_jobs(now, lease)
        Links(most=MOST_LINKED).mend(now, lease)
        FlowRepair().mend(now, lease)
    return now


def _dispatch(now: datetime, moved: timedelta) -> None:
    """Dispatch schedules by the moments of their rules, which are not moved, unlike their jobs."""
    if not Schedule.objects.due(now + moved).exists():
        return
    ids = get_job_ids(MOST_SCHEDULED)
    with atomic():
        dispatch_batch(list(ids), now + moved)
        QueuedJob.objects.filter(pk__in=ids).update(due_at=F("due_at") - moved)


@contextmanager
def _curating() -> Iterator[HeldLease]:
    lease = HeldLease.take("testing", "testing", 60.0)
    if lease is None:
        raise AssertionError("another process runs jobs for a test in this database")
    try:
        yield lease
    finally:
        lease.release()


def _run_one(queue: str, number: int) -> None:
    """Run what a slot gives until its queue is empty; a killed worker is recovered at once."""
    slot = acquire(queue, number, WORKER)
    if slot is None:
        return
    stop = _Once()
    runner = SlotRunner(slot, InlineChild(), WORKER, lambda: None, stop)
    try:
        runner.run()
    except WorkerKilled:
        _recover(slot.id)
    except LeaseLost:
        return
    else:
        slot.leave()


class _Once:
    """Let a runner begin one batch."""

    def __init__(self) -> None:
        self._asked = 0

    def __call__(self) -> bool:
        self._asked += 1
        return self._asked > 1


def _recover(slot_id: int) -> None:
    """Do what the curator does when the lease of a dead worker is over."""
    now = database_now()
    Slot.objects.filter(pk=slot_id).update(leased_until=now - timedelta(seconds=1))
    with _curating() as lease:
        recover(slot_id, database_now(), lease, redis_answers=False)


def _next_step(
    queues: Sequence[str] | None, looked_at: datetime, last: datetime, moved: timedelta
) -> timedelta | None:
    """Return how long it is until something may start or expires, if that is not too late."""
    jobs = QueuedJob.objects.waiting().filter(queue__deleted_at=None)
    flows = Flow.objects.filter(queue__paused_at=None)
    gates = Gate.objects.filter(queue__paused_at=None).exclude(closed_at=None)
    schedules = Schedule.objects.active()
    if queues is not None:
        names = {"queue__name__in": queues}
        jobs, flows, gates = jobs.filter(**names), flows.filter(**names), gates.filter(**names)
        schedules = schedules.filter(**names)
    next_at = _first(schedules, "next_at", looked_at + moved)
    moments = [
        _first(jobs.awake().shared().filter(queue__paused_at=None), "due_at", looked_at),
        _first(jobs.filter(attempt=0), "expires_at", looked_at),
        _first(flows, "wake_at", looked_at),
        _first(gates, "wake_at", looked_at),
        None if next_at is None else next_at - moved,
    ]
    first = min((each for each in moments if each is not None), default=None)
    if first is None or first > last - moved:
        return None
    return max(first - database_now(), timedelta())


def _first(rows: QuerySet[Any], field: str, after: datetime) -> datetime | None:
    later = rows.filter(**{f"{field}__gt": after}).order_by(field)
    return later.values_list(field, flat=True).first()


def _shift(by: timedelta) -> None:
    if not by:
        return
    waiting = QueuedJob.objects.waiting()
    waiting.update(due_at=F("due_at") + by)
    repeating = QueuedJob.objects.unfinished().exclude(repeat_until=None)
    repeating.update(repeat_until=F("repeat_until") + by)
    QueuedJob.objects.exclude(expires_at=None).update(expires_at=F("expires_at") + by)
    for model in (Flow, Gate):
        model._default_manager.exclude(wake_at=None).update(wake_at=F("wake_at") + by)
    Rate.objects.update(full_at=F("full_at") + by // MICROSECOND)


def _ran(run: Run) -> Ran:
    job = run.job
    result = job.result if run.outcome == "complete" else None
    return Ran(str(job.pk), job.mount, job.script, run.attempt, run.outcome, run.error, result)
