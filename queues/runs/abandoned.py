"""Roll back the transactions that an attempt left open, before the next attempt begins."""

from collections.abc import Iterable

from django.db.models import QuerySet

from allocation.transactions.engine.roll_back import (
    FAILURES,
    Guard,
    TakenOver,
    claim_seconds,
    mark_stuck,
    unguarded,
)
from allocation.transactions.engine.roll_back import roll_back as undo
from allocation.transactions.models import Transaction
from queues.models import AttemptTransaction
from queues.runs import outbox
from queues.runs.attempt import Attempt
from queues.runs.reservation import Reserved

TRIES = 10  # others may roll back the same transaction at the same time


def left_by_earlier_attempts(job: Reserved) -> list[str]:
    """Roll back what earlier attempts at a job left; return why the next cannot begin."""
    never_begun = job.parent is not None and job.attempt == 0  # callbacks are shown first
    return [] if never_begun else roll_back(open_of_jobs([job.id]))


def open_of_jobs(jobs: Iterable[int]) -> list[int]:
    """Return the open transactions of every attempt at these jobs."""
    return _open(AttemptTransaction.objects.filter(job__in=list(jobs)))


def open_of_attempt(attempt: Attempt) -> list[int]:
    """Return the open transactions of one attempt, in the hold of its worker."""
    return _open(
        AttemptTransaction.objects.filter(
            job=attempt.job,
            attempt=attempt.number,
            slot=attempt.slot,
            slot_epoch=attempt.slot_epoch,
        )
    )


def roll_back(transactions: Iterable[int], guard: Guard = unguarded) -> list[str]:
    """Roll back transactions; return a sentence for each that failed, which the curator retries."""
    transactions = list(transactions)
    ended = [_roll_back(pk, guard) for pk in transactions]
    outbox.drop(transactions)
    return [sentence for sentence in ended if sentence]


def _open(noted: "QuerySet[AttemptTransaction]") -> list[int]:
    unfinished = Transaction.objects.unfinished().order_by("pk")
    return list(unfinished.filter(pk__in=noted.values("transaction")).values_list("pk", flat=True))


def _roll_back(pk: int, guard: Guard) -> str:
    for _ in range(TRIES):
        epoch = Transaction.objects.unfinished().filter(pk=pk).values_list("epoch", flat=True)
        current = epoch.first()
        if current is None:
            return ""
        if Transaction.objects.claim(pk, current, Transaction.Cause.FAILED, claim_seconds()):
            try:
                return _undo(pk, current + 1, guard)
            except TakenOver:  # by another process that rolls it back, too
                continue
    return f"transaction {pk} is being rolled back by others"


def _undo(pk: int, epoch: int, guard: Guard) -> str:
    try:
        undo(pk, epoch, guard)
    except TakenOver:
        raise
    except FAILURES as error:
        mark_stuck(pk, epoch, error, guard)
        return f"transaction {pk} of an earlier attempt is stuck: {error}"
    return ""
