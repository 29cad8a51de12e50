"""What people do to one job: abort, reset, run now, delete, pause, resume.

Each action is one conditional UPDATE. Actions on many jobs leave out those that repeat, unless the
caller asks for them.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import IntegrityError
from django.db.models import Case, Count, F, When
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from atributo_site.core.events import current_actor, record
from atributo_site.core.models.clock import database_now
from queues.errors import JobIsHeld, JobIsRunning, JobIsTwice, JobNotFound, JobRepeatsNot
from queues.flow import flows
from queues.jobs import aborting
from queues.links import ending, linking, settling
from queues.logic.lifecycle import Status
from queues.logic.ranks import BLOCKED, INTO_FLOW, LINE, PAUSED
from queues.logic.repeats import next_in_step
from queues.models import AttemptTransaction, QueuedJob, Run, RunLog
from queues.models.job import IN_FLOW, IS_BLOCKED, REPEATING, SERIAL, STICKY, WITH_TURN
from queues.runs import abandoned, turns
from queues.runs.callbacks import follow_ends, settle_blocked
from queues.runs.doorbell import ring
from queues.runs.held_jobs import wait_for_workers

ENDING = ("abort", "delete")  # nothing is left of a schedule then
SPARED = "It is a schedule, and schedules were not included."
FINISHED = [Status.COMPLETE, Status.FAILED]
UNLESS_BLOCKED = Case(When(IS_BLOCKED, then=F("due_at")), default=Now())
FORGIVEN: dict[str, Any] = {"due_at": UNLESS_BLOCKED, "run_failures": 0, "lost": 0}
FREE_RANK = F("rank") - Case(When(IS_BLOCKED, then=BLOCKED), default=0)
AWAKE_RANK = FREE_RANK - Case(When(paused_at__isnull=False, then=PAUSED), default=0)
OUT_OF_FLOW = Case(When(STICKY & IN_FLOW, then=INTO_FLOW), default=0)
BACK_IN_LINE = Case(When(SERIAL & WITH_TURN, then=LINE), default=0)
WAITING_AGAIN: dict[str, Any] = {
    **FORGIVEN,
    "due_at": Now(),
    "delayed_until": None,
    "rank": AWAKE_RANK + BACK_IN_LINE - OUT_OF_FLOW,  # a paused job that is reset runs at once
    "flow_id": Case(When(STICKY, then=None), default=F("flow_id")),
    "paused_at": None,
    "paused_by": "",
    "pause_reason": "",
    "status": Status.PENDING,
    "ended_at": None,
    "aborted_at": None,
    "expired_at": None,
    "expires_at": None,  # whoever starts it over wants it to start
    "error": "",
    "fingerprint": "",
    "resets": F("resets") + 1,
}
LONGEST_REASON = 255


def kept_schedules(action: str, ids: Sequence[int]) -> set[int]:
    """Return the repeating jobs among these, which the action would end."""
    if action not in ENDING:
        return set()
    repeating = QueuedJob.objects.filter(pk__in=ids).filter(REPEATING)
    return set(repeating.values_list("pk", flat=True))


def schedules_among(jobs: Any, most: int) -> int:
    """Count how many of the newest jobs will run again."""
    return jobs.order_by("-pk")[:most].aggregate(n=Count("pk", filter=REPEATING))["n"]


def abort(job_id: int, *, reason: str = "") -> bool:
    """End an unfinished job as failed, without callback; a late result changes no row.

    Return True when it has ended so and never begins again, False when it had ended by itself.
    """
    facts = {"reason": reason} if reason else {}
    tell = partial(record, subject=f"job:{job_id}", **facts)
    answer = aborting.abort([job_id], tell=tell)
    if answer.silent:
        raise _held(job_id)
    if not answer.ended and not QueuedJob.objects.filter(pk=job_id).exists():
        raise _missing(job_id)
    return answer.ended == 1


def cancel_by_key(queue: str, unique_key: str, *, reason: str = "") -> int | None:
    """Abort the unfinished job of a queue with this unique key.

    Return its id, or None when there is none or it has ended by itself meanwhile.
    """
    jobs = QueuedJob.objects.unfinished().filter(queue__name=queue, unique_key=unique_key)
    job_id = jobs.values_list("pk", flat=True).first()
    if job_id is None or not abort(job_id, reason=reason):
        return None
    return job_id


def reset(job_id: int) -> None:
    """Let a finished job wait again, with its failures forgiven; make a waiting one due."""
    jobs = QueuedJob.objects.filter(pk=job_id)
    try:
        with atomic():
            ending.reopen([job_id])
            if not _wait_again(jobs):
                if not jobs.exists():
                    raise _missing(job_id)
                raise JobIsRunning(f"job {job_id} is running")
            wait_for_others([job_id])
            record("job.reset", f"job:{job_id}")
    except IntegrityError as error:
        raise JobIsTwice(f"an unfinished job has the unique key of {job_id}") from error
    ring_for(job_id)


def wait_for_others(ids: Sequence[int]) -> None:
    """Let jobs that are started over wait again for those that have not ended."""
    blocked = linking.block_again(ids)
    if blocked:
        after_commit(partial(settle_blocked, blocked))


def run_now(job_id: int) -> bool:
    """Make a waiting job due; False when it does not wait, is paused or waits for others."""
    jobs = QueuedJob.objects.filter(pk=job_id)
    changed = jobs.waiting().awake().exclude(IS_BLOCKED).update(due_at=Now()) == 1
    if changed:
        record("job.run_now", f"job:{job_id}")
        ring_for(job_id)
    elif not jobs.exists():
        raise _missing(job_id)
    return changed


def delete(job_id: int) -> bool:
    """Delete a job with all its rows; a running one is stopped, a waiting one never begins."""
    if aborting.abort([job_id]).silent:
        raise _held(job_id)
    with atomic():
        list(QueuedJob.objects.select_for_update().filter(pk=job_id).only("pk"))
        left = abandoned.open_of_jobs([job_id])
        unlink([job_id])
        AttemptTransaction.objects.filter(job_id=job_id).delete()
        RunLog.objects.filter(job_id=job_id).delete()
        Run.objects.filter(job_id=job_id).delete()
        deleted, _ = QueuedJob.objects.filter(pk=job_id).delete()
        if deleted:
            record("job.deleted", f"job:{job_id}")
    abandoned.roll_back(left)
    return deleted > 0


def unlink(ids: Sequence[int]) -> None:
    """Forget what waits for jobs that are deleted; what they did not complete for fails."""
    follow_ends(settling.fail_waiting_for(ids))
    settling.forget(ids)


def _wait_again(jobs: Any) -> bool:
    finished = jobs.filter(status__in=FINISHED).update(**WAITING_AGAIN)
    waiting = 0 if finished else jobs.waiting().update(**FORGIVEN)
    return finished + waiting == 1


def ring_for(job_id: int) -> None:
    job = QueuedJob.objects.select_related("queue").get(pk=job_id)
    after_commit(lambda: _ring(job))


def _ring(job: QueuedJob) -> None:
    if job.flow_id is not None:
        flows.wake(job.queue_id, [job.flow_id])
    turns.pass_on_and_ring(turns.lines_of([job.pk]))
    if job.sticky_key is None or job.routed_to:  # the curator routes one without a route
        ring(job.queue_id, job.queue.name, station=job.routed_to or "")


def _held(job_id: int) -> JobIsHeld:
    return JobIsHeld(
        f"the worker of job {job_id} does not answer yet: the job is aborted as soon as it does, "
        "or is given up, unless it has ended by then",
        job=str(job_id),
    )


def _missing(job_id: int) -> JobNotFound:
    return JobNotFound(f"Job does not exist: {job_id}", job=str(job_id))


def pause(job_id: int, *, reason: str = "") -> bool:
    """Start no further run of it; a run that is under way ends. False when it was paused before."""
    jobs = QueuedJob.objects.filter(pk=job_id)
    with atomic():
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
            record("job.paused", f"job:{job_id}", **facts)
    if not paused:
        _check(job_id)
    after_commit(lambda: wait_for_workers(jobs))  # it may be about to begin
    turns.pass_on_and_ring(turns.lines_of([job_id]))
    return paused == 1


def resume(job_id: int) -> bool:
    """Go on with the next moment of its rhythm; missed runs are not made up for."""
    with atomic():
        paused = QueuedJob.objects.filter(pk=job_id, paused_at__isnull=False)
        job = paused.select_for_update().only("due_at", "repeat_delay_ms").first()
        if job is not None:
            paused.update(
                rank=F("rank") - PAUSED,
                paused_at=None,
                paused_by="",
                pause_reason="",
                due_at=next_in_step(job.due_at, job.repeat_delay_ms, database_now()),
            )
            record("job.resumed", f"job:{job_id}")
            ring_for(job_id)
    if job is None:
        _check(job_id)
    return job is not None


def _check(job_id: int) -> None:
    """Raise the right error for a job that cannot be paused: only one that will run again can."""
    jobs = QueuedJob.objects.filter(pk=job_id)
    if not jobs.exists():
        raise JobNotFound(f"Job does not exist: {job_id}", job=str(job_id))
    if not jobs.filter(REPEATING).exists():
        raise JobRepeatsNot(f"job {job_id} does not repeat or has ended: there is nothing to pause")
