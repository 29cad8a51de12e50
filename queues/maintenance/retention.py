"""Delete what is older than its queue keeps, a bounded part with each sweep."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.transaction import atomic

from allocation.transactions.models import Transaction
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import from_now
from queues.logic.lifecycle import Status
from queues.models import AttemptTransaction, Queue, QueuedJob, Run, RunLog

BATCH = 1000
FEW = 10  # jobs that go on, each with up to a thousand old attempts
FINISHED = [Status.COMPLETE, Status.FAILED]


def forget_old_jobs(now: datetime, lease: HeldLease) -> int:
    """Delete finished jobs beyond their queue's retention, with attempts and log lines."""
    return _of_each_queue(_forget_jobs, lease)


def forget_old_attempts(now: datetime, lease: HeldLease) -> int:
    """Delete old attempts at jobs that go on: one that repeats for ever never ends."""
    return _of_each_queue(_forget_attempts, lease)


def _of_each_queue(forget: Callable[[Queue, Any], int], lease: HeldLease) -> int:
    forgotten = 0
    for queue in Queue.objects.all():
        with atomic():
            lease.guard()
            forgotten += forget(queue, from_now(-queue.retention_days * 86400))
    return forgotten


def _forget_jobs(queue: Queue, border: Any) -> int:
    """Delete locked jobs, so that nobody resets one whose attempts are gone."""
    jobs = QueuedJob.objects
    ended = jobs.filter(queue=queue, status__in=FINISHED, ended_at__lt=border)
    old = ended.order_by("ended_at").select_for_update(skip_locked=True)
    ids = list(old.values_list("pk", flat=True)[:BATCH])
    AttemptTransaction.objects.filter(job_id__in=ids).delete()
    RunLog.objects.filter(job_id__in=ids).delete()
    Run.objects.filter(job_id__in=ids).delete()
    return jobs.filter(pk__in=ids).delete()[0] if ids else 0


def _forget_attempts(queue: Queue, border: Any) -> int:
    first = Run.objects.filter(job=OuterRef("pk")).order_by("attempt").values("ended_at")[:1]
    jobs = QueuedJob.objects.unfinished().filter(queue=queue, attempt__gt=1)
    old = jobs.filter(created_at__lt=border).annotate(first=Subquery(first))
    job_ids = list(old.filter(first__lt=border).values_list("pk", flat=True)[:FEW])
    return sum(_forget_first_of(job_id, border) for job_id in job_ids)


def _forget_first_of(job_id: int, border: Any) -> int:
    """Delete from the first on, so that the others are numbered without gaps."""
    ended = Run.objects.filter(job_id=job_id, ended_at__lt=border)
    *_, last = ended.order_by("attempt").values_list("attempt", flat=True)[:BATCH]
    these = {"job_id": job_id, "attempt__lte": last}
    begun = AttemptTransaction.objects.filter(**these)
    begun.exclude(transaction__in=Transaction.objects.unfinished().values("pk")).delete()
    RunLog.objects.filter(**these).delete()
    return Run.objects.filter(**these).delete()[0]
