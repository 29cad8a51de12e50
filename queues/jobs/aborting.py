"""Abort jobs so that a job that is reported as aborted never begins.

A waiting or a running job ends by one conditional UPDATE. A worker may begin a reserved job from
its memory at any moment, so the request is written into the row, and the job is aborted by whoever
gives it back, shows it as running or records its result. That takes as long as a batch, so the
answer waits for it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from queues.flow import flows
from queues.logic.lifecycle import ABORTED, Outcome, Status
from queues.models import QueuedJob, Run
from queues.models.job import RESERVED
from queues.runs import abandoned, turns
from queues.runs.callbacks import follow_ends
from queues.runs.cancellation import notify_cancelled
from queues.runs.held_jobs import wait_for_workers

ASKED, TOLD = "job.abort_asked", "job.aborted"  # events


def _unless_reserved(value: Any, field: str) -> Case:
    of_field: Any = QueuedJob._meta.get_field(field)
    return Case(When(RESERVED, then=F(field)), default=value, output_field=of_field)


ENDED: dict[str, Any] = {
    "status": _unless_reserved(Value(Status.FAILED.value), "status"),
    "error": _unless_reserved(Value(ABORTED), "error"),
    "aborted_at": _unless_reserved(Now(), "aborted_at"),
    "ended_at": _unless_reserved(Now(), "ended_at"),
    "slot_id": Case(When(RESERVED, then=F("slot_id")), default=Value(None)),
    "slot_epoch": _unless_reserved(Value(None), "slot_epoch"),
    "abort_asked_at": Case(When(RESERVED, then=Now()), default=Value(None)),
}


class Answer(NamedTuple):
    ended: int
    silent: set[int]  # reserved by a worker that has not reported yet what became of them


def abort(
    ids: Sequence[int],
    *,
    patience: float | None = None,
    tell: Callable[[str], Any] = lambda kind: None,
) -> Answer:
    """End the jobs that are unfinished; `tell` records the event with the change.

    Inside a transaction of the caller nothing can be waited for before it commits: what is reserved
    then counts as ended, and the wait follows the commit.
    """
    jobs = QueuedJob.objects.filter(pk__in=ids)
    with atomic():
        changed = jobs.unfinished().update(**ENDED)
        held, linked = _held_and_linked(jobs) if changed else (set(), set())
        if changed:
            _end_runs(ids)
            tell(ASKED if held else TOLD)
            after_commit(partial(notify_cancelled, list(ids)))
        lines = turns.lines_of(ids) if changed else []
        aborted = jobs.filter(aborted_at__isnull=False).values_list("pk", flat=True)
        left = abandoned.open_of_jobs(aborted) if changed else []
    if changed:
        after_commit(partial(_let_flows_go_on, list(ids)))
        follow_ends(linked)
    abandoned.roll_back(left)
    asked = jobs.filter(pk__in=held, abort_asked_at__isnull=False)
    if connection.in_atomic_block:
        after_commit(lambda: wait_for_workers(asked, patience))
        turns.pass_on_and_ring(lines)
        return Answer(changed, set())
    silent = wait_for_workers(asked, patience) if held else set()
    turns.pass_on_and_ring(lines)
    ended = jobs.filter(pk__in=held, status=Status.FAILED, aborted_at__isnull=False).count()
    if ended:
        tell(TOLD)
        follow_ends(_held_and_linked(jobs.filter(pk__in=held))[1])
    return Answer(changed - len(held) + ended, silent)


def _held_and_linked(jobs: Any) -> tuple[set[int], set[int]]:
    """Return the jobs that a worker has reserved, and the ended ones that others wait for."""
    ended = Q(status__in=[Status.COMPLETE, Status.FAILED])
    linked = ended & (Q(awaited=True) | Q(batch__isnull=False))
    rows = list(jobs.filter(RESERVED | linked).values_list("pk", "status"))
    held = {pk for pk, status in rows if status == Status.PENDING}
    return held, {pk for pk, _ in rows} - held


def _let_flows_go_on(ids: Sequence[int]) -> None:
    """Let other jobs start that waited for the limits of these."""
    rows = QueuedJob.objects.filter(pk__in=ids, flow_id__isnull=False)
    by_queue: dict[int, set[int]] = {}
    for queue_id, flow_id in rows.order_by().values_list("queue_id", "flow_id").distinct():
        by_queue.setdefault(queue_id, set()).add(flow_id or 0)
    for queue_id, flow_ids in by_queue.items():
        flows.wake(queue_id, flow_ids, ended=True)


def _end_runs(ids: Sequence[int]) -> None:
    running = Run.objects.filter(job_id__in=ids, outcome=Outcome.RUNNING)
    running.filter(job__status=Status.FAILED).update(
        outcome=Outcome.ABORTED, ended_at=Now(), error=ABORTED
    )
