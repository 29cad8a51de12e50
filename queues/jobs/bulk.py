"""Retry, abort or delete many jobs, a thousand at a time, and report which were refused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import IntegrityError
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from atributo_site.core.events import record
from queues.errors import JobIsRunning, JobIsTwice, JobNotFound
from queues.jobs import aborting, actions
from queues.jobs.actions import SPARED, kept_schedules
from queues.links import ending
from queues.models import AttemptTransaction, Queue, QueuedJob, Run, RunLog
from queues.runs import abandoned, turns
from queues.runs.held_jobs import BRIEFLY_SECONDS
from queues.runs.stations import ring_queue

CHUNK = 500
HELD = "its worker does not answer yet; it is aborted unless it ends by itself before"


@dataclass
class Done:
    """How many jobs were changed, and which were not, with the reason."""

    changed: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def do(action: str, ids: Sequence[int], *, schedules: bool = False, **facts: Any) -> Done:
    """Do one of ACTIONS to these jobs, with one event for all."""
    done = apply(action, ids, schedules=schedules)
    first = [str(job_id) for job_id in ids[:5]]
    if done.changed:
        record(f"jobs.{action}", f"jobs:{action}", count=done.changed, first=first, **facts)
    return done


def apply(action: str, ids: Sequence[int], *, schedules: bool = False) -> Done:
    """Do the same without an event."""
    done = Done()
    for begin in range(0, len(ids), CHUNK):
        chunk = ids[begin : begin + CHUNK]
        kept = set() if schedules else kept_schedules(action, chunk)
        done.refused.update({str(job_id): SPARED for job_id in chunk if job_id in kept})
        ACTIONS[action]([job_id for job_id in chunk if job_id not in kept], done)
    return done


def _retry(ids: list[int], done: Done) -> None:
    try:
        with atomic():
            ending.reopen(ids)
            done.changed += _wait_again(ids)
            actions.wait_for_others(ids)
    except IntegrityError:  # a unique key is taken: find out by whom, one at a time
        for job_id in ids:
            _retry_one(job_id, done)
    call_for(ids)


def call_for(ids: list[int]) -> None:
    """Ring for jobs that wait again."""
    turns.pass_on_and_ring(turns.lines_of(ids))
    for queue in Queue.objects.filter(jobs__in=ids).distinct():
        after_commit(partial(ring_queue, queue.pk, queue.name, queue.max_workers))


def _wait_again(ids: list[int]) -> int:
    jobs = QueuedJob.objects.filter(pk__in=ids)
    waiting = jobs.waiting().update(**actions.FORGIVEN)
    finished = jobs.filter(status__in=actions.FINISHED)
    return waiting + finished.update(**actions.WAITING_AGAIN)


def _retry_one(job_id: int, done: Done) -> None:
    try:
        actions.reset(job_id)
        done.changed += 1
    except (JobIsTwice, JobIsRunning, JobNotFound) as error:
        done.refused[str(job_id)] = str(error)


def _abort(ids: list[int], done: Done) -> None:
    changed, held = _aborted(ids)
    done.changed += changed
    done.refused.update(held)


def _delete(ids: list[int], done: Done) -> None:
    _, held = _aborted(ids)
    done.refused.update(held)
    ids = [job_id for job_id in ids if str(job_id) not in held]
    with atomic():
        list(QueuedJob.objects.select_for_update().filter(pk__in=ids).only("pk"))
        left = abandoned.open_of_jobs(ids)
        actions.unlink(ids)
        AttemptTransaction.objects.filter(job_id__in=ids).delete()
        RunLog.objects.filter(job_id__in=ids).delete()
        Run.objects.filter(job_id__in=ids).delete()
        done.changed += QueuedJob.objects.filter(pk__in=ids).delete()[0]
    abandoned.roll_back(left)


def _aborted(ids: list[int]) -> tuple[int, dict[str, str]]:
    """Return how many ended, and those whose worker does not answer."""
    answer = aborting.abort(ids, patience=BRIEFLY_SECONDS)
    return answer.ended, {str(job_id): HELD for job_id in answer.silent}


ACTIONS: dict[str, Callable[[list[int], Done], None]] = {
    "retry": _retry,
    "abort": _abort,
    "delete": _delete,
}
