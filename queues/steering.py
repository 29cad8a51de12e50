"""What people do to a job: abort, reset, run now, delete. One conditional UPDATE each."""

from functools import partial
from typing import Any

from django.db import IntegrityError
from django.db.models import Case, F, When
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.after_commit import after_commit
from allocation.events import record
from queues import aborting, left_behind
from queues.errors import JobIsHeld, JobIsRunning, JobIsTwice, JobNotFound
from queues.logic.lifecycle import Status
from queues.logic.ranks import PAUSED
from queues.models import AttemptTransaction, QueuedJob, Run, RunLog
from queues.ring import ring

FINISHED = [Status.COMPLETE, Status.FAILED]
FORGIVEN: dict[str, Any] = {"due_at": Now(), "run_failures": 0, "lost": 0}
AWAKE_RANK = F("rank") - Case(When(paused_at__isnull=False, then=PAUSED), default=0)
WAITING_AGAIN: dict[str, Any] = {
    **FORGIVEN,
    "rank": AWAKE_RANK,  # who lets it run again does not mean "once somebody resumes it"
    "paused_at": None,
    "paused_by": "",
    "pause_reason": "",
    "status": Status.PENDING,
    "ended_at": None,
    "aborted_at": None,
    "error": "",
    "fingerprint": "",
    "resets": F("resets") + 1,
}


def abort(job_id: int, *, reason: str = "", using: str = "default") -> bool:
    """An unfinished job ends as failed, without callback; a late result finds no row.

    True: it has ended so, and never begins again. False: it had ended by itself.
    """
    facts = {"reason": reason} if reason else {}
    tell = partial(record, subject=f"job:{job_id}", using=using, **facts)
    answer = aborting.abort([job_id], using=using, tell=tell)
    if answer.silent:
        raise _held(job_id)
    if not answer.ended and not QueuedJob.objects.using(using).filter(pk=job_id).exists():
        raise _missing(job_id)
    return answer.ended == 1


def reset(job_id: int, *, using: str = "default") -> None:
    """A finished job waits again, with its failures forgiven; a waiting one becomes due."""
    jobs = QueuedJob.objects.using(using).filter(pk=job_id)
    try:
        with atomic(using=using):
            if not _wait_again(jobs):
                if not jobs.exists():
                    raise _missing(job_id)
                raise JobIsRunning(f"job {job_id} is running")
            record("job.reset", f"job:{job_id}", using=using)
    except IntegrityError as error:
        raise JobIsTwice(f"an unfinished job has the unique key of {job_id}") from error
    ring_for(job_id, using)


def run_now(job_id: int, *, using: str = "default") -> bool:
    """Make a waiting job due; False when it does not wait, or is paused."""
    jobs = QueuedJob.objects.using(using).filter(pk=job_id)
    changed = jobs.waiting().awake().update(due_at=Now()) == 1
    if changed:
        record("job.run_now", f"job:{job_id}", using=using)
        ring_for(job_id, using)
    elif not jobs.exists():
        raise _missing(job_id)
    return changed


def delete(job_id: int, *, using: str = "default") -> bool:
    """A running one is stopped, a waiting one never begins; it leaves no trace."""
    if aborting.abort([job_id], using=using).silent:
        raise _held(job_id)
    with atomic(using=using):
        list(QueuedJob.objects.using(using).select_for_update().filter(pk=job_id).only("pk"))
        left = left_behind.of_jobs([job_id])
        AttemptTransaction.objects.using(using).filter(job_id=job_id).delete()
        RunLog.objects.using(using).filter(job_id=job_id).delete()
        Run.objects.using(using).filter(job_id=job_id).delete()
        deleted, _ = QueuedJob.objects.using(using).filter(pk=job_id).delete()
        if deleted:
            record("job.deleted", f"job:{job_id}", using=using)
    left_behind.roll_back(left)
    return deleted > 0


def _wait_again(jobs: Any) -> bool:
    finished = jobs.filter(status__in=FINISHED).update(**WAITING_AGAIN)
    waiting = 0 if finished else jobs.waiting().update(**FORGIVEN)
    return finished + waiting == 1


def ring_for(job_id: int, using: str) -> None:
    job = QueuedJob.objects.using(using).select_related("queue").get(pk=job_id)
    after_commit(lambda: _ring(job, using), using=using)


def _ring(job: QueuedJob, using: str) -> None:
    if job.sticky_key is None or job.routed_to:  # one without a route is sent by the curator
        ring(job.queue_id, job.queue.name, station=job.routed_to or "", using=using)


def _held(job_id: int) -> JobIsHeld:
    return JobIsHeld(
        f"the worker of job {job_id} does not answer yet: the job is aborted as soon as it does, "
        "or is given up, unless it has ended by then",
        job=str(job_id),
    )


def _missing(job_id: int) -> JobNotFound:
    return JobNotFound(f"Job does not exist: {job_id}", job=str(job_id))
