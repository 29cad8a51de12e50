"""Give up a job that has waited too long for its instance."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Exists, F
from django.db.transaction import atomic

from allocation.events import record
from allocation.leases import HeldLease
from queues.callbacks import push_callbacks
from queues.dialect import dialect
from queues.logic.lifecycle import Outcome, Status
from queues.models import QueuedJob, Run, Station
from queues.recovery import as_reserved
from queues.settle import Ending, settle


def give_up(job: QueuedJob, instance_id: str, now: datetime, lease: HeldLease) -> bool:
    """As a run that failed for good: it counts, its callback is called, and it may repeat."""
    using, error = lease.using, f"no worker serves its instance {instance_id}"
    last_try = replace(as_reserved(job, job.attempt), max_failures=0)
    ending = Ending(last_try, Outcome.FAILED, now, now, error=error)
    settled = settle(ending, dialect(using))
    with atomic(using=using):
        lease.guard()
        if not _end(job, instance_id, ending, settled.row):
            return False
        _keep(job, settled.row, now, using)
        record("job.given_up", f"job:{job.pk}", using=using, instance=instance_id)
        push_callbacks([settled], using)
    return True


def _end(job: QueuedJob, instance_id: str, ending: Ending, row: dict[str, Any]) -> bool:
    """Unless it has started, moved, or a worker serves its instance again."""
    step = ending.next()
    jobs = QueuedJob.objects.using(job._state.db).filter(pk=job.pk, attempt=job.attempt)
    changed = (
        jobs.waiting()
        .filter(Exists(Station.objects.away().filter(pk=instance_id)), routed_to=instance_id)
        .update(
            status=step.status,
            attempt=F("attempt") + 1,
            runs=step.counts.runs,
            run_failures=step.counts.run_failures,
            lost=step.counts.lost,
            due_at=step.due_at or job.due_at,
            started_at=ending.started_at,
            ended_at=None if step.status is Status.PENDING else ending.ended_at,
            error=ending.error,
            fingerprint=row["fingerprint"],
        )
    )
    return changed == 1


def _keep(job: QueuedJob, row: dict[str, Any], now: datetime, using: str) -> None:
    """The attempt that could not begin."""
    Run.objects.using(using).create(
        job_id=job.pk,
        attempt=row["attempt"],
        number=row["number"],
        worker="",
        outcome=Outcome.FAILED,
        started_at=now,
        ended_at=now,
        error=row["error"],
    )
