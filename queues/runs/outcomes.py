"""Record how a slot's jobs ended, and what their runs do meanwhile.

Every write is fenced by the slot's epoch and the attempt: a late writer changes no row.
"""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from django.db.transaction import atomic

from allocation.transactions.engine.operations import Fence, complete
from allocation.transactions.store.refusals import why_over
from atributo_site.core.after_commit import after_commit
from atributo_site.core.database import (
    dialect,
    execute,
    execute_each_in_turn,
    in_index_order,
)
from atributo_site.core.fencing import count_fenced
from queues.logic.lifecycle import Outcome, Status
from queues.models import QueuedJob, Run, RunLog
from queues.runs import abandoned, outbox, turns
from queues.runs.callbacks import follow_ends, push_callbacks
from queues.runs.doorbell import ring
from queues.runs.outcome_rows import AttemptResult, OutcomeRow, outcome_row
from queues.runs.reservation import Reserved, wake_flows
from queues.runs.slots import HeldSlot, lease_seconds
from queues.sql import outcomes, reserve, slots, sticky

MOST_RUNG = 1000


class NotCompleted(Exception):
    """The run succeeded, but its transaction was over before it could be completed."""


def record_all(slot: HeldSlot, results: list[AttemptResult], worker: str) -> set[int]:
    """Record results with the transactions of their runs; return the ids that were accepted.

    What a run wrote is completed with its result, or rolled back before a retry can start.
    """
    if not any(result.transaction or result.abandoned for result in results):
        return record(slot, results, worker)
    accepted: set[int] = set()
    for result in results:
        if result.transaction is not None:
            accepted |= _record_and_complete(slot, result, worker)
        else:
            accepted |= _roll_back_and_record(slot, result, worker)
    return accepted


def record(slot: HeldSlot, results: list[AttemptResult], worker: str) -> set[int]:
    """Record results, log lines and callbacks; return the ids that were accepted.

    LeaseLost is raised when another worker holds the slot.
    """
    d = dialect()
    rows = [outcome_row(result, d) for result in results]
    written = [each.row for each in rows]
    if not any(each.callback or each.result.lines for each in rows):
        accepted_at_once = set(_write(slot, written, worker))
        _pass_turns_on(slot, rows, accepted_at_once)
        _let_flows_go_on(slot, rows)
        return accepted_at_once
    with atomic():
        aborted_at = _write(slot, written, worker)
        accepted = [each for each in rows if each.row["id"] in aborted_at]
        _insert_lines([(each.result.job, line) for each in accepted for line in each.result.lines])
        push_callbacks([each for each in accepted if aborted_at[each.row["id"]] is None])
        _pass_turns_on(slot, accepted, set(aborted_at))
        _let_flows_go_on(slot, accepted)
    return set(aborted_at)


def record_and_leave(
    slot: HeldSlot, results: list[AttemptResult], worker: str
) -> tuple[set[int], list[str] | None]:
    """Record the last results of a slot and leave it, on PostgreSQL in one message.

    Return the ids that were accepted, and the stations that the queue has work for as
    `HeldSlot.leave` does; None for these if results need more than that and the slot is still held.
    """
    d = dialect()
    rows = [outcome_row(result, d) for result in results]
    if not any(map(_needs_more, rows)):
        written = _write_and_leave(slot, [each.row for each in rows], worker)
        if written is not None:
            accepted, waiting = written
            return accepted, waiting if len(accepted) == len(results) else slot.leave()
    return record_all(slot, results, worker), None


def _needs_more(row: OutcomeRow) -> bool:
    """Return whether something follows from a result, which is done while the slot is held."""
    result = row.result
    also_written = row.callback or result.lines or result.transaction or result.abandoned
    return bool(also_written or result.job.line or result.job.flow_id is not None)


def _let_flows_go_on(slot: HeldSlot, rows: list[OutcomeRow]) -> None:
    """Let other jobs of the same limits start; this worker takes the first by itself."""
    jobs = [each.result.job for each in rows if each.result.job.flow_id is not None]
    if jobs:
        for_good = all(each.row["status"] != Status.PENDING for each in rows)
        after_commit(partial(_wake_flows, slot, jobs, for_good))


def _wake_flows(slot: HeldSlot, jobs: list[Reserved], for_good: bool) -> None:
    woken = wake_flows(slot.queue_id, jobs, for_good=for_good)
    others = woken.pop("", 0) - 1
    if others > 0:
        ring(slot.queue_id, slot.queue, min(others, MOST_RUNG), leftover=True)
    for station in woken:
        ring(slot.queue_id, slot.queue, station=station, leftover=True)


def _pass_turns_on(slot: HeldSlot, rows: list[OutcomeRow], accepted: set[int]) -> None:
    """Let the next jobs of their sticky keys start."""
    of_keys = [each for each in rows if each.result.job.line and each.row["id"] in accepted]
    if of_keys:
        after_commit(partial(_next_of_keys, slot, of_keys))


def _next_of_keys(slot: HeldSlot, rows: list[OutcomeRow]) -> None:
    """Ring elsewhere only: this worker looks for the next job by itself."""
    keys = [each.result.job.line or "" for each in rows]
    ended = all(each.row["status"] != Status.PENDING for each in rows)
    given = turns.pass_on(slot.queue_id, keys, ended=ended)
    turns.ring_for(given, slot.queue_id, slot.queue, but=rows[0].result.job.routed_to)


def recorded_before(results: list[AttemptResult], worker: str) -> set[int]:
    """Return the ids of those whose result this worker has recorded already."""
    attempts = {result.job.id: result.job.attempt + 1 for result in results}
    runs = Run.objects.filter(job__in=attempts, worker=worker)
    ended = runs.exclude(outcome__in=[Outcome.RUNNING, Outcome.LOST, Outcome.ABORTED])
    rows = ended.values_list("job_id", "attempt")
    return {job_id for job_id, attempt in rows if attempts[job_id] == attempt}


def record_start(slot: HeldSlot, job: Reserved, worker: str, seconds_ago: float) -> bool:
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


def record_progress(
    slot: HeldSlot, job: Reserved, lines: list[dict[str, Any]], progress: dict[str, Any] | None
) -> None:
    """Record log lines and progress of a run that goes on."""
    with atomic():
        if not still_ours(slot, job):
            return
        _insert_lines([(job, line) for line in lines])
        if progress is not None:
            execute(reserve.SHOW_PROGRESS, {**progress, **_attempt(slot, job)})


def count_refused(slot: HeldSlot, results: int) -> None:
    """Count results of runs that somebody aborted, deleted or took over."""
    if results:
        count_fenced("run", f"queue:{slot.queue}", times=results, results=results)


def _attempt(slot: HeldSlot, job: Reserved) -> dict[str, Any]:
    return {**slot.key, "job_id": job.id, "attempt": job.attempt + 1}


def _record_and_complete(slot: HeldSlot, result: AttemptResult, worker: str) -> set[int]:
    """Do both or neither: after a crash in between, the run is lost and documents are as before."""
    try:
        with atomic():
            accepted = record(slot, [result], worker)
            if accepted:
                _complete(Fence(*result.transaction or ()))
    except NotCompleted as error:
        failed = replace(result, outcome=Outcome.FAILED, error=str(error), result=None)
        return _roll_back_and_record(
            slot, replace(failed, transaction=None, abandoned=True), worker
        )
    if not accepted:
        abandoned.roll_back(abandoned.open_of_attempt(result.job.attempt_in(slot)))
    return accepted


def _complete(fence: Fence) -> None:
    if not complete(fence):
        raise NotCompleted(str(why_over(*fence) or f"transaction {fence.txn} failed"))
    outbox.deliver(fence.txn)


def _roll_back_and_record(slot: HeldSlot, result: AttemptResult, worker: str) -> set[int]:
    if not result.abandoned:
        return record(slot, [result], worker)
    abandoned.roll_back(abandoned.open_of_attempt(result.job.attempt_in(slot)))
    with atomic():
        accepted = record(slot, [result], worker)
        if accepted and abandoned.open_of_jobs(accepted):  # the next attempt tries again first
            jobs = QueuedJob.objects.filter(pk=result.job.id, status=Status.PENDING)
            jobs.update(suspect=True)
    return accepted


def _write_and_leave(
    slot: HeldSlot, rows: list[dict[str, Any]], worker: str
) -> tuple[set[int], list[str]] | None:
    """Return what was accepted and who has work, None if nothing was written."""
    d, facts = dialect(), _facts(slot, rows, worker)
    if d.vendor == "postgresql":
        look_after = in_index_order(d, sticky.who_has_work(d))
        statements = [[outcomes.finish_and_leave_postgresql(d)], look_after]
        left, *_, look = execute_each_in_turn(statements, facts)
        if not left.rows:  # the slot is lost, or watched by a push
            return None
        done = [row for row in left.rows if row[0] is not None]
        follow_ends(job_id for job_id, _, ends in done if ends)
        accepted = {job_id for job_id, _, _ in done}
    else:
        with atomic():
            if execute(slots.release_with_results(d), facts).count != 1:
                return None
            accepted = set(_write_in_steps(facts))
        look = execute(sticky.who_has_work(d), facts)
    return accepted, [station for (station,) in look.rows]


def _write(slot: HeldSlot, rows: list[dict[str, Any]], worker: str) -> dict[int, Any]:
    """Return the ids that were accepted, each with when its job was aborted, if it was."""
    d, facts = dialect(), _facts(slot, rows, worker)
    if d.vendor != "postgresql":
        with atomic():
            slot.renew()
            return _write_in_steps(facts)
    done = execute(outcomes.finish_postgresql(d), facts).rows
    if not done:
        slot.renew()  # refused one by one, or is the slot lost?
    follow_ends(job_id for job_id, _, ends in done if ends)
    return {job_id: aborted_at for job_id, aborted_at, _ in done}


def _facts(slot: HeldSlot, rows: list[dict[str, Any]], worker: str) -> dict[str, Any]:
    facts = {**slot.key, "queue_id": slot.queue_id, "worker": worker}
    written = json.dumps(rows, ensure_ascii=False)
    return {**facts, "outcomes": written, "lease_seconds": lease_seconds()}


def _write_in_steps(facts: dict[str, Any]) -> dict[int, Any]:
    """Do so on SQLite, in a transaction of the caller."""
    finish_jobs, record_runs, count = outcomes.finish_sqlite(dialect())
    rows = execute(finish_jobs, facts).rows
    accepted: dict[int, Any] = {job_id: aborted_at for job_id, aborted_at, _ in rows}
    facts["accepted"] = json.dumps(list(accepted))
    follow_ends(job_id for job_id, _, ends in rows if ends)
    execute(record_runs, facts)
    execute(count, facts)
    return accepted


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
