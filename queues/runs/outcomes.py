"""The ledger: write what became of a slot's jobs, fenced by the slot's epoch and the attempt.

How runs end: the outcome and the run's transaction are written as one.

Results that came too late: counted, and otherwise without effect.
"""

import json
from dataclasses import replace
from typing import Any

from django.db.transaction import atomic

from allocation.transactions.engine.operations import Fence, complete
from allocation.transactions.store.refusals import why_over
from atributo_site.core.database import dialect, execute
from atributo_site.core.fencing import count_fenced
from queues.logic.lifecycle import Outcome, Status
from queues.models import QueuedJob, Run, RunLog
from queues.runs import abandoned, outbox
from queues.runs.callbacks import push_callbacks
from queues.runs.outcome_rows import AttemptResult, OutcomeRow, outcome_row
from queues.runs.reservation import Reserved
from queues.runs.slots import HeldSlot, lease_seconds
from queues.sql import outcomes, reserve


def record(slot: HeldSlot, endings: list[AttemptResult], worker: str) -> set[int]:
    """The ids whose outcome was accepted; LeaseLost when the slot is no longer ours."""
    d = dialect()
    settled = [outcome_row(ending, d) for ending in endings]
    if not any(each.callback or each.ending.lines for each in settled):
        return set(_finish(slot, settled, worker))
    with atomic():
        aborted = _finish(slot, settled, worker)
        kept = [each for each in settled if each.row["id"] in aborted]
        _keep_lines(kept)
        push_callbacks([each for each in kept if aborted[each.row["id"]] is None])
    return set(aborted)


def stored(slot: HeldSlot, endings: list[AttemptResult], worker: str) -> set[int]:
    """The ids of those whose end this worker has written."""
    attempts = {ending.job.id: ending.job.attempt + 1 for ending in endings}
    runs = Run.objects.filter(job__in=attempts, worker=worker)
    told = runs.exclude(outcome__in=[Outcome.RUNNING, Outcome.LOST, Outcome.ABORTED])
    rows = told.values_list("job_id", "attempt")
    return {job_id for job_id, attempt in rows if attempts[job_id] == attempt}


def start(slot: HeldSlot, job: Reserved, worker: str, seconds_ago: float) -> bool:
    """Show a job as running and free the others; False when it was aborted or deleted."""
    d = dialect()
    facts = {**_attempt(slot, job), "run": job.runs + 1, "worker": worker}
    facts["started_seconds"] = -seconds_ago
    with atomic():
        slot.renew()
        if execute(reserve.start(d), facts).count != 1:
            return False
        execute(reserve.record_start(d), facts)
        slot.give_back()
    return True


def still_ours(slot: HeldSlot, job: Reserved) -> bool:
    """Renew the lease, and look whether the job was aborted or deleted."""
    slot.renew()
    return bool(execute(reserve.STILL_OURS, _attempt(slot, job)).rows)


def report(slot: HeldSlot, job: Reserved, lines: list[dict[str, Any]], shown: Any) -> None:
    """Log lines and progress of a run that goes on."""
    with atomic():
        if not still_ours(slot, job):
            return
        _insert_lines([(job, line) for line in lines])
        if shown is not None:
            execute(reserve.SHOW_PROGRESS, {**shown, **_attempt(slot, job)})


def _attempt(slot: HeldSlot, job: Reserved) -> dict[str, Any]:
    return {**slot.key, "job_id": job.id, "attempt": job.attempt + 1}


def _finish(slot: HeldSlot, settled: list[OutcomeRow], worker: str) -> dict[int, Any]:
    """The ids whose outcome was accepted, each with when its job was aborted, if it was."""
    rows = json.dumps([each.row for each in settled], ensure_ascii=False)
    facts = {**slot.key, "queue_id": slot.queue_id, "worker": worker, "outcomes": rows}
    facts["lease_seconds"] = lease_seconds()
    d = dialect()
    if d.vendor != "postgresql":
        return _finish_in_steps(slot, facts)
    accepted: dict[int, Any] = dict(execute(outcomes.finish_postgresql(d), facts).rows)
    if not accepted:
        slot.renew()  # refused one by one, or is the slot lost?
    return accepted


def _finish_in_steps(slot: HeldSlot, facts: dict[str, Any]) -> dict[int, Any]:
    finish_jobs, record_runs, count = outcomes.finish_sqlite(dialect())
    with atomic():
        slot.renew()
        accepted: dict[int, Any] = dict(execute(finish_jobs, facts).rows)
        facts["accepted"] = json.dumps(list(accepted))
        execute(record_runs, facts)
        execute(count, facts)
    return accepted


def _keep_lines(settled: list[OutcomeRow]) -> None:
    pairs = [(each.ending.job, line) for each in settled for line in each.ending.lines]
    _insert_lines(pairs)


def _insert_lines(pairs: list[tuple[Reserved, dict[str, Any]]]) -> None:
    RunLog.objects.bulk_create(
        RunLog(
            job_id=job.id,
            attempt=job.attempt + 1,
            level=line["level"],
            text=line["text"],
            **({"at": line["moment"]} if "moment" in line else {}),
        )
        for job, line in pairs
    )


class NotCompleted(Exception):
    """The run succeeded, but its transaction was over before it could be completed."""


def finish(slot: HeldSlot, endings: list[AttemptResult], worker: str) -> set[int]:
    """As ledger.finish; what the runs wrote stands, or is rolled back before a retry can start."""
    if not any(ending.transaction or ending.abandoned for ending in endings):
        return record(slot, endings, worker)
    accepted: set[int] = set()
    for ending in endings:
        if ending.transaction is not None:
            accepted |= _together(slot, ending, worker)
        else:
            accepted |= _after_roll_back(slot, ending, worker)
    return accepted


def _together(slot: HeldSlot, ending: AttemptResult, worker: str) -> set[int]:
    """Both or neither: a crash in between leaves a run that is lost and documents as before."""
    try:
        with atomic():
            accepted = record(slot, [ending], worker)
            if accepted:
                _complete(Fence(*ending.transaction or ()))
    except NotCompleted as error:
        failed = replace(ending, outcome=Outcome.FAILED, error=str(error), result=None)
        return _after_roll_back(slot, replace(failed, transaction=None, abandoned=True), worker)
    if not accepted:
        abandoned.roll_back(abandoned.open_of_attempt(ending.job.attempt_in(slot)))
    return accepted


def _complete(fence: Fence) -> None:
    if not complete(fence):
        raise NotCompleted(str(why_over(*fence) or f"transaction {fence.txn} failed"))
    outbox.deliver(fence.txn)


def _after_roll_back(slot: HeldSlot, ending: AttemptResult, worker: str) -> set[int]:
    if not ending.abandoned:
        return record(slot, [ending], worker)
    abandoned.roll_back(abandoned.open_of_attempt(ending.job.attempt_in(slot)))
    with atomic():
        accepted = record(slot, [ending], worker)
        if accepted and abandoned.open_of_jobs(accepted):  # the next attempt tries again first
            jobs = QueuedJob.objects.filter(pk=ending.job.id, status=Status.PENDING)
            jobs.update(suspect=True)
    return accepted


def count_refused(slot: HeldSlot, results: int) -> None:
    """Tell that somebody aborted, deleted or took over what this worker still ran."""
    if not results:
        return
    count_fenced("run", f"queue:{slot.queue}", times=results, results=results)
