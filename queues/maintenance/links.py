"""Batches and jobs that wait for others: what the curator repairs, and the rules that hold."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.database import execute
from atributo_site.core.leases import HeldLease
from atributo_site.core.loops import Repair
from atributo_site.core.models.clock import from_now
from atributo_site.core.models.pieces import MOST, seen_twice
from queues.links.settling import Settled, settle, settle_batch, settle_blocked
from queues.links.sql import statements as sql
from queues.models import Batch, Dependency, QueuedJob
from queues.runs.callbacks import call

PIECE = 1000  # blocked jobs, and running batches, that one look reads
SHARE = 20  # a look may take one part in so many of the curator's time
LONGEST_PAUSE_SECONDS = 10.0
LATE = timedelta(seconds=10)
FEW = 100


class Links:
    """Look at all that waits for an end, piece by piece; the longer it takes, the rarer."""

    def __init__(self, most: int = PIECE, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._monotonic = monotonic
        self._not_before = 0.0
        self._last: dict[str, int] = {}

    def mend(self, now: datetime, lease: HeldLease) -> int:
        """Settle what a process that died has left; return how many jobs and batches that were."""
        begun = self._monotonic()
        if begun < self._not_before:
            return 0
        [[any_batch, any_job]] = execute(sql.LOOK, {}).rows
        if not any_batch and not any_job:
            return 0
        with atomic():
            lease.guard()
        mended = self._settle(bool(any_batch), bool(any_job))
        call(mended)
        ended = self._monotonic()
        self._not_before = ended + min(SHARE * (ended - begun), LONGEST_PAUSE_SECONDS)
        return mended.count

    def _settle(self, any_batch: bool, any_job: bool) -> Settled:
        settled = Settled()
        jobs = self._page(sql.BLOCKED_PAGE) if any_job else []
        failed = settle_blocked(jobs, settled) if jobs else []
        if failed:
            more = settle(failed)
            settled.released += more.released
            settled.failed += more.failed
            settled.batches += more.batches
            settled.called |= more.called
        for batch_id in self._page(sql.RUNNING_PAGE) if any_batch else []:
            settle_batch(batch_id, settled)
        return settled

    def _page(self, statement: str) -> list[int]:
        """Go on where the last look has ended, from the start after the last page."""
        asked = {"after": self._last.get(statement, 0), "limit": self._most}
        ids = [row[0] for row in execute(statement, asked).rows]
        self._last[statement] = ids[-1] if len(ids) == self._most else 0
        return ids


def forget_old_batches(now: datetime, lease: HeldLease) -> int:
    """Delete batches that ended long ago, and of which no job is left."""
    old = Batch.objects.filter(ended_at__lt=from_now(-86_400)).order_by("ended_at")
    jobs = QueuedJob.objects.filter(batch=OuterRef("pk"))
    empty = old.exclude(Exists(jobs)).select_related("queue")
    with atomic():
        lease.guard()
        beyond = [each.pk for each in empty[:FEW] if _is_beyond(each, now)]
        return Batch.objects.filter(pk__in=beyond).delete()[0]


def _is_beyond(batch: Batch, now: datetime) -> bool:
    kept = timedelta(days=batch.queue.retention_days)
    return batch.ended_at is not None and batch.ended_at < now - kept


LINK_REPAIRS = [
    Repair("batches and jobs that wait for others", Links().mend, every_seconds=0.5),
    Repair("old batches", forget_old_batches, every_seconds=600, budget=FEW),
]


def unended_batches() -> list[str]:
    """Find batches that should have ended before the curator last looked."""
    unfinished = QueuedJob.objects.unfinished().filter(batch=OuterRef("pk"))
    running = Batch.objects.filter(state="running", closed_at__lt=Now() - LATE)
    rows = running.exclude(Exists(unfinished)).order_by("pk")
    return [f"batch {row.pk}" for row in rows[:MOST]]


def ended_too_early() -> list[str]:
    """Find batches that ended before their last job; one that is started over reopens them."""
    jobs = QueuedJob.objects.unfinished().filter(batch__isnull=False)
    rows = jobs.filter(batch__state__in=["complete", "failed"])
    return [f"{row.pk} of batch {row.batch_id}" for row in rows.order_by("pk")[:MOST]]


def forgotten_waiting() -> list[str]:
    """Find blocked jobs that wait for none any more."""
    unfinished = QueuedJob.objects.unfinished().filter(pk=OuterRef("after_id"))
    links = Dependency.objects.filter(Exists(unfinished), job_id=OuterRef("pk"))
    rows: Any = QueuedJob.objects.blocked().filter(created_at__lt=Now() - LATE)
    return [f"{row.pk}" for row in rows.exclude(Exists(links)).order_by("pk")[:MOST]]


def started_too_early() -> list[str]:
    """Find jobs that run although one before them has not ended, and was not started over."""
    before = QueuedJob.objects.unfinished().filter(pk=OuterRef("after_id"), resets=0)
    links = Dependency.objects.filter(Exists(before), job_id=OuterRef("pk"))
    rows = QueuedJob.objects.filter(Exists(links), status="progress", resets=0)
    return [f"{row.pk}" for row in rows.order_by("pk")[:MOST]]


LINK_INVARIANTS: list[Any] = [
    (
        "batch without end",
        "No batch runs on when all of its jobs have ended.",
        seen_twice(unended_batches),
    ),
    (
        "batch ended early",
        "No batch has ended before its jobs.",
        seen_twice(ended_too_early),
    ),
    (
        "waiting for nothing",
        "No job waits for others that have all ended.",
        seen_twice(forgotten_waiting),
    ),
    (
        "started before others",
        "No job runs before the jobs that it waits for have ended.",
        seen_twice(started_too_early),
    ),
]
