"""Away: no worker serves an instance any more. What its waiting jobs do then says their queue."""

from datetime import datetime

from django.db.transaction import atomic

from allocation.leases import HeldLease
from allocation.logic.drain import plan
from allocation.models.clock import from_now
from allocation.moves import Destinations, move_jobs
from queues.giving_up import give_up
from queues.logic.away import WhenAway
from queues.models import Queue, QueuedJob, Station
from queues.routes import Strayed, redirect

BATCH = 200  # jobs per sweep, queue and instance


def follow_policies(now: datetime, lease: HeldLease) -> int:
    """Move or fail the jobs that have waited for their instance longer than their queue allows."""
    queues = Queue.objects.using(lease.using).active().exclude(when_away=WhenAway.WAIT)
    return sum(_follow(queue, now, lease) for queue in queues)


def _follow(queue: Queue, now: datetime, lease: HeldLease) -> int:
    grace = from_now(-queue.away_seconds)
    stations = Station.objects.using(lease.using).filter(served_until__lte=grace)
    done = 0
    for instance_id in list(stations.values_list("pk", flat=True)):
        jobs = QueuedJob.objects.using(lease.using).waiting_at(instance_id).filter(queue=queue)
        overdue = jobs.awake().filter(due_at__lte=grace).order_by("rank", "due_at", "id")
        found = list(overdue[:BATCH])
        if found and queue.when_away == WhenAway.MOVE:
            done += _move(instance_id, found, lease)
        elif found:
            done += sum(give_up(job, instance_id, now, lease) for job in found)
    return done


def _move(instance_id: str, jobs: list[QueuedJob], lease: HeldLease) -> int:
    """Their keys, to instances that are available and served; without one they wait on."""
    keys = sorted({job.sticky_key or "" for job in jobs})
    moves = plan([(key, instance_id) for key in keys], _served(instance_id, lease.using).choose)
    if not moves:
        return 0
    with atomic(using=lease.using):
        lease.guard()
        if not Station.objects.using(lease.using).away().filter(pk=instance_id).exists():
            return 0  # it came back while we planned
        move_jobs(moves, "instance away", lease.using)
    moved = {move.job_id for move in moves}
    strayed = [
        Strayed(job.pk, job.sticky_key or "", instance_id)
        for job in jobs
        if job.sticky_key in moved
    ]
    return redirect(strayed, "its instance is away", lease)


def _served(instance_id: str, using: str) -> Destinations:
    """Where a key may go: not where nobody would run its jobs either."""
    served = set(Station.objects.using(using).served().values_list("pk", flat=True))
    return Destinations.without(instance_id, using, among=served)
