"""Run what is due up to a moment, in this process, with the statements that workers use.

Time is not waited for. What is due later is moved to now, run, and what follows from it is moved
back, so that every row has the moment that it would have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from atributo_site.core.errors import LeaseLost
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from queues.maintenance.recovery import recover
from queues.models import QueuedJob, Run, Slot
from queues.runs.doorbell import silence
from queues.runs.slots import acquire, free_slots_with_work
from queues.testing.faults import WorkerKilled
from queues.testing.inline_child import InlineChild
from queues.worker.slot_runner import SlotRunner

__all__ = ["Ran", "run_due", "silence"]
WORKER = "testing"
MOST_RUNS = 10_000


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
                _run_due_now(queues, known, most)
                step = _next_step(queues, last - moved)
                if step is None:
                    break
                _shift(-step)
                moved += step
        finally:
            _shift(moved)
    runs = Run.objects.exclude(pk__in=known).select_related("job").order_by("id")
    return [_ran(run) for run in runs]


def _run_due_now(queues: Sequence[str] | None, known: set[int], most: int) -> None:
    while slots := [each for each in free_slots_with_work() if queues is None or each[0] in queues]:
        for queue, number in slots:
            _run_one(queue, number)
            if Run.objects.count() - len(known) > most:
                raise AssertionError(f"more than {most} attempts were made; the jobs do not end")


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
    lease = HeldLease.take("testing", "testing", 60.0)
    if lease is None:
        raise AssertionError("another process runs jobs for a test in this database")
    recover(slot_id, database_now(), lease, redis_answers=False)
    lease.release()


def _next_step(queues: Sequence[str] | None, last: datetime) -> timedelta | None:
    """Return how long it is until the next job, if that is not after the last moment."""
    jobs = QueuedJob.objects.waiting().awake().shared().filter(queue__paused_at=None)
    jobs = jobs.filter(queue__deleted_at=None, due_at__lte=last)
    if queues is not None:
        jobs = jobs.filter(queue__name__in=queues)
    first = jobs.order_by("due_at").values_list("due_at", flat=True).first()
    if first is None:
        return None
    return max(first - database_now(), timedelta())


def _shift(by: timedelta) -> None:
    if not by:
        return
    waiting = QueuedJob.objects.waiting()
    waiting.update(due_at=F("due_at") + by)
    repeating = QueuedJob.objects.unfinished().exclude(repeat_until=None)
    repeating.update(repeat_until=F("repeat_until") + by)


def _ran(run: Run) -> Ran:
    job = run.job
    result = job.result if run.outcome == "complete" else None
    return Ran(str(job.pk), job.mount, job.script, run.attempt, run.outcome, run.error, result)
