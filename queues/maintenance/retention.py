"""Delete what is older than its queue keeps, a bounded part with each sweep."""

from datetime import datetime
from typing import Any

from django.db.models import Exists, Min, OuterRef
from django.db.transaction import atomic

from allocation.transactions.models import Transaction
from atributo_site.core.database import dialect, execute
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import from_now
from queues.links import settling
from queues.logic.lifecycle import Status
from queues.models import AttemptTransaction, Batch, Queue, QueuedJob, Run, RunLog
from queues.sql import retention as sql

BATCH = 1000
FEW = 10  # jobs that go on, each with up to a thousand old attempts
FINISHED = [Status.COMPLETE, Status.FAILED]
IN_RUNNING_BATCH = Exists(Batch.objects.unfinished().filter(pk=OuterRef("batch_id")))


def forget_old_jobs(now: datetime, lease: HeldLease) -> int:
    """Delete finished jobs beyond their queue's retention, with attempts and log lines."""
    queues = execute(sql.queues_with_old_jobs(dialect()), {}).rows
    if not queues:
        return 0
    with atomic():
        lease.guard()
        return _delete(_old_jobs(queues))


def forget_old_attempts(now: datetime, lease: HeldLease) -> int:
    """Delete old attempts at jobs that go on: one that repeats for ever never ends."""
    shortest = Queue.objects.aggregate(days=Min("retention_days"))["days"]
    if shortest is None:
        return 0
    asked = {"shortest_days": shortest, "jobs": FEW}
    forgotten = 0
    for job_id, days in execute(sql.jobs_with_old_attempts(dialect()), asked).rows:
        with atomic():
            lease.guard()
            forgotten += _forget_first_of(job_id, _border(days))
    return forgotten


def _old_jobs(queues: list[Any]) -> list[int]:
    """Lock the first of them, so that nobody resets one whose attempts are gone."""
    ids: list[int] = []
    for queue_id, days in queues:
        ended = QueuedJob.objects.filter(queue=queue_id, status__in=FINISHED)
        old = ended.filter(~IN_RUNNING_BATCH, ended_at__lt=_border(days)).order_by("ended_at")
        locked = old.select_for_update(skip_locked=True).values_list("pk", flat=True)
        ids += locked[: BATCH - len(ids)]
        if len(ids) >= BATCH:
            break
    return ids


def _delete(ids: list[int]) -> int:
    if not ids:
        return 0
    settling.forget(ids)
    AttemptTransaction.objects.filter(job_id__in=ids).delete()
    RunLog.objects.filter(job_id__in=ids).delete()
    Run.objects.filter(job_id__in=ids).delete()
    return QueuedJob.objects.filter(pk__in=ids).delete()[0]


def _border(days: int) -> Any:
    return from_now(-days * 86400)


def _forget_first_of(job_id: int, border: Any) -> int:
    """Delete from the first on, so that the others are numbered without gaps."""
    ended = Run.objects.filter(job_id=job_id, ended_at__lt=border)
    *_, last = ended.order_by("attempt").values_list("attempt", flat=True)[:BATCH] or [None]
    if last is None:  # somebody has deleted the job
        return 0
    these = {"job_id": job_id, "attempt__lte": last}
    begun = AttemptTransaction.objects.filter(**these)
    begun.exclude(transaction__in=Transaction.objects.unfinished().values("pk")).delete()
    RunLog.objects.filter(**these).delete()
    return Run.objects.filter(**these).delete()[0]
