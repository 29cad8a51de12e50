"""Move or fail jobs that wait for an instance that no worker serves, as their queue wants."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Exists, F
from django.db.transaction import atomic

from allocation.logic.drain import plan
from allocation.placement.destinations import Destinations
from allocation.placement.moves import move_jobs
from atributo_site.core.database import dialect
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import from_now
from queues.jobs.routing import MisroutedJob, reroute
from queues.logic.absence import WhenAway
from queues.logic.lifecycle import Outcome, Status
from queues.maintenance.recovery import as_reserved
from queues.models import Queue, QueuedJob, Run, Station
from queues.runs import turns
from queues.runs.callbacks import follow_ends, push_callbacks
from queues.runs.outcome_rows import AttemptResult, outcome_row

BATCH = 200  # jobs per sweep, queue and instance


def give_up(job: QueuedJob, instance_id: str, now: datetime, lease: HeldLease) -> bool:
    """End a job like a run that failed for good: it counts, calls back and may repeat."""
    error = f"no worker serves its instance {instance_id}"
    last_try = replace(as_reserved(job, job.attempt), max_failures=0)
    result = AttemptResult(last_try, Outcome.FAILED, now, now, error=error)
    outcome = outcome_row(result, dialect())
    with atomic():
        lease.guard()
        if not _end(job, instance_id, result, outcome.row):
            return False
        _keep(job, outcome.row, now)
        record("job.given_up", f"job:{job.pk}", instance=instance_id)
        push_callbacks([outcome])
        follow_ends([job.pk])
        turns.pass_on_and_ring(turns.lines_of([job.pk]))
    return True


def _end(job: QueuedJob, instance_id: str, result: AttemptResult, row: dict[str, Any]) -> bool:
    """End it unless it has started, moved, or a worker serves its instance again."""
    step = result.next()
    jobs = QueuedJob.objects.filter(pk=job.pk, attempt=job.attempt)
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
            started_at=result.started_at,
            ended_at=None if step.status is Status.PENDING else result.ended_at,
            error=result.error,
            fingerprint=row["fingerprint"],
        )
    )
    return changed == 1


def _keep(job: QueuedJob, row: dict[str, Any], now: datetime) -> None:
    """Record the attempt that could not begin."""
    Run.objects.create(
        job_id=job.pk,
        attempt=row["attempt"],
        number=row["number"],
        worker="",
        outcome=Outcome.FAILED,
        started_at=now,
        ended_at=now,
        error=row["error"],
    )


def follow_policies(now: datetime, lease: HeldLease) -> int:
    """Move or fail jobs that have waited for their instance longer than their queue allows."""
    queues = Queue.objects.active().exclude(when_away=WhenAway.WAIT)
    return sum(_follow(queue, now, lease) for queue in queues)


def _follow(queue: Queue, now: datetime, lease: HeldLease) -> int:
    grace = from_now(-queue.away_seconds)
    stations = Station.objects.filter(served_until__lte=grace)
    done = 0
    for instance_id in list(stations.values_list("pk", flat=True)):
        jobs = QueuedJob.objects.waiting_at(instance_id).filter(queue=queue)
        overdue = jobs.awake().filter(due_at__lte=grace).order_by("rank", "due_at", "id")
        overdue_jobs = list(overdue[:BATCH])
        if overdue_jobs and queue.when_away == WhenAway.MOVE:
            done += _move(instance_id, overdue_jobs, lease)
        elif overdue_jobs:
            done += sum(give_up(job, instance_id, now, lease) for job in overdue_jobs)
    return done


def _move(instance_id: str, jobs: list[QueuedJob], lease: HeldLease) -> int:
    """Move their keys to instances that are available and served; without one they wait on."""
    keys = sorted({job.sticky_key or "" for job in jobs})
    destinations = _served(instance_id)
    destinations.expect(keys)
    moves = plan([(key, instance_id) for key in keys], destinations.choose)
    if not moves:
        return 0
    with atomic():
        lease.guard()
        if not Station.objects.away().filter(pk=instance_id).exists():
            return 0  # it came back while we planned
        move_jobs(moves, "instance away")
    moved = {move.job_id for move in moves}
    misrouted = [
        MisroutedJob(job.pk, job.sticky_key or "", instance_id)
        for job in jobs
        if job.sticky_key in moved
    ]
    return reroute(misrouted, "its instance is away", lease)


def _served(instance_id: str) -> Destinations:
    """Return where a key may go: to instances where somebody would run its jobs."""
    served = set(Station.objects.served().values_list("pk", flat=True))
    return Destinations.without(instance_id, "default", among=served)
