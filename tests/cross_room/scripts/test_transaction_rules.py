"""`verify` notices a run beside an open transaction of an earlier attempt, and a forgotten push."""

from datetime import timedelta

from django.db.models.functions import Now

from allocation.transactions.engine.transaction import Transaction
from allocation.transactions.models import Transaction as TransactionRow
from queues.maintenance.invariants import open_beside_a_later_attempt, undelivered_pushes
from queues.models import AttemptTransaction, QueuedJob
from queues.runs.reservation import reserve
from queues.runs.slots import acquire

LONG_AGO = Now() - timedelta(minutes=1)


def test_a_transaction_that_is_open_beside_a_later_attempt_is_found(bank):
    job = bank.push()
    reserve(acquire("money", 0, "somebody"), 1)
    txn = Transaction()
    noted = {"transaction": txn.id, "slot": 1, "slot_epoch": 1}
    AttemptTransaction.objects.create(job_id=job.id, attempt=1, **noted)
    QueuedJob.objects.update(status="progress", attempt=2, started_at=LONG_AGO)
    assert open_beside_a_later_attempt() == [f"{job.id} attempt 1: {txn.id}"]
    txn.roll_back()
    assert open_beside_a_later_attempt() == []


def test_a_push_that_nobody_delivered_is_found(bank):
    txn = Transaction()
    job_id = bank.queue.push(bank.script, bank.order(), transaction=txn)
    assert undelivered_pushes() == []
    Transaction.attach(txn.id).complete()
    TransactionRow.objects.update(finished_at=LONG_AGO)
    assert undelivered_pushes() == [f"{job_id} of transaction {txn.id}"]
