"""Pause a job that repeats, and let it go on in its own rhythm."""

from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.after_commit import after_commit
from allocation.events import current_actor, record
from allocation.models.clock import database_now
from queues.errors import JobNotFound, JobRepeatsNot
from queues.held import wait_for_workers
from queues.logic.ranks import PAUSED
from queues.logic.repeats import next_in_step
from queues.models import QueuedJob
from queues.models.job import REPEATING
from queues.steering import ring_for

LONGEST_REASON = 255


def pause(job_id: int, *, reason: str = "", using: str = "default") -> bool:
    """Nothing of it starts any more; a run that is under way ends. False when it was paused."""
    jobs = QueuedJob.objects.using(using).filter(pk=job_id)
    with atomic(using=using):
        paused = (
            jobs.awake()
            .filter(REPEATING)
            .update(
                rank=F("rank") + PAUSED,
                paused_at=Now(),
                paused_by=current_actor().name,
                pause_reason=reason[:LONGEST_REASON],
            )
        )
        if paused:
            facts = {"reason": reason[:LONGEST_REASON]} if reason else {}
            record("job.paused", f"job:{job_id}", using=using, **facts)
    if not paused:
        _check(job_id, using)
    after_commit(lambda: wait_for_workers(jobs), using=using)  # it may be about to begin
    return paused == 1


def resume(job_id: int, *, using: str = "default") -> bool:
    """From the next moment of its rhythm on; what was missed is not made up for."""
    with atomic(using=using):
        paused = QueuedJob.objects.using(using).filter(pk=job_id, paused_at__isnull=False)
        job = paused.select_for_update().only("due_at", "repeat_delay_ms").first()
        if job is not None:
            paused.update(
                rank=F("rank") - PAUSED,
                paused_at=None,
                paused_by="",
                pause_reason="",
                due_at=next_in_step(job.due_at, job.repeat_delay_ms, database_now(using)),
            )
            record("job.resumed", f"job:{job_id}", using=using)
            ring_for(job_id, using)
    if job is None:
        _check(job_id, using)
    return job is not None


def _check(job_id: int, using: str) -> None:
    """Only a job that will run again can be paused."""
    jobs = QueuedJob.objects.using(using).filter(pk=job_id)
    if not jobs.exists():
        raise JobNotFound(f"Job does not exist: {job_id}", job=str(job_id))
    if not jobs.filter(REPEATING).exists():
        raise JobRepeatsNot(f"job {job_id} does not repeat, or is over: there is nothing to pause")
