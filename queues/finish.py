"""How runs end: the outcome and the run's transaction are written as one."""

from dataclasses import replace

from django.db.transaction import atomic

from allocation.transactions.operations import Fence, complete
from allocation.transactions.refusals import why_over
from queues import ledger, left_behind, outbox
from queues.logic.lifecycle import Outcome, Status
from queues.models import QueuedJob
from queues.settle import Ending
from queues.slots import HeldSlot


class NotCompleted(Exception):
    """The run succeeded, but its transaction was over before it could be completed."""


def finish(slot: HeldSlot, endings: list[Ending], worker: str) -> set[int]:
    """As ledger.finish; what the runs wrote stands, or is rolled back before a retry can start."""
    if not any(ending.transaction or ending.abandoned for ending in endings):
        return ledger.finish(slot, endings, worker)
    accepted: set[int] = set()
    for ending in endings:
        if ending.transaction is not None:
            accepted |= _together(slot, ending, worker)
        else:
            accepted |= _after_roll_back(slot, ending, worker)
    return accepted


def _together(slot: HeldSlot, ending: Ending, worker: str) -> set[int]:
    """Both or neither: a crash in between leaves a run that is lost and documents as before."""
    try:
        with atomic():
            accepted = ledger.finish(slot, [ending], worker)
            if accepted:
                _complete(Fence(*ending.transaction or ()))
    except NotCompleted as error:
        failed = replace(ending, outcome=Outcome.FAILED, error=str(error), result=None)
        return _after_roll_back(slot, replace(failed, transaction=None, abandoned=True), worker)
    if not accepted:
        left_behind.roll_back(left_behind.of_attempt(ending.job.attempt_in(slot)))
    return accepted


def _complete(fence: Fence) -> None:
    if not complete(fence):
        raise NotCompleted(str(why_over(*fence) or f"transaction {fence.txn} failed"))
    outbox.deliver(fence.txn)


def _after_roll_back(slot: HeldSlot, ending: Ending, worker: str) -> set[int]:
    if not ending.abandoned:
        return ledger.finish(slot, [ending], worker)
    left_behind.roll_back(left_behind.of_attempt(ending.job.attempt_in(slot)))
    with atomic():
        accepted = ledger.finish(slot, [ending], worker)
        if accepted and left_behind.of_jobs(accepted):  # the next attempt tries again first
            jobs = QueuedJob.objects.filter(pk=ending.job.id, status=Status.PENDING)
            jobs.update(suspect=True)
    return accepted
