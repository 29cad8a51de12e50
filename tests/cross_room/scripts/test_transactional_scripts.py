"""What a script writes in its transaction stands with its success, and never otherwise."""

import pytest
from django.db.models import F

from allocation.transactions.engine.transaction import Transaction
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as TransactionRow
from queues.models import AttemptTransaction, HeldPush, QueuedJob, Run
from tests.transactions.engine.poison import poisoned


def test_a_run_completes_its_transaction_and_its_push_with_its_outcome(bank, hands):
    job = bank.push()
    hands.drain()
    assert (job.status, job.result) == ("complete", {"ada": 990, "grace": 1010})
    assert bank.balances() == [990, 1010]
    assert [receipt["value"]["sum"] for receipt in bank.receipts()] == [10]
    assert not HeldPush.objects.exists() and not Lock.objects.exists()


def test_a_long_run_completes_too(bank, hands):
    job = bank.push(order=bank.order(pause_ms=30))
    hands.drain()
    assert job.status == "complete"
    assert bank.balances() == [990, 1010]


def test_a_failed_run_leaves_neither_a_change_nor_a_push(bank, hands):
    job = bank.push(order=bank.order(amount=5000), max_failures=1, back_off=0)
    hands.drain()
    assert job.status == "failed" and "ada has too little for 5000" in job.failures[0]
    assert bank.balances() == [1000, 1000]
    assert QueuedJob.objects.count() == 1 and not HeldPush.objects.exists()
    assert set(TransactionRow.objects.values_list("status", flat=True)) == {"rolled_back"}


def test_each_attempt_remembers_its_transaction(bank, hands):
    bank.push(order=bank.order(amount=5000), max_failures=1, back_off=0)
    hands.drain()
    assert list(AttemptTransaction.objects.values_list("attempt", flat=True)) == [1, 2]


def test_a_run_out_of_time_is_rolled_back(bank, hands):
    job = bank.push(order=bank.order(pause_ms=30_000), timeout=100, max_failures=0)
    hands.drain()
    assert job.status == "failed" and "timed out after 100ms" in job.failures[0]
    assert bank.balances() == [1000, 1000]


def test_a_locked_key_is_a_failure_that_names_the_holder_and_is_tried_again(bank, hands):
    holder = Transaction(owner="somebody")
    holder.get("bank_accounts", "grace")
    job = bank.push(max_failures=1, back_off=3_600_000)
    hands.drain()
    said = f"bank_accounts/grace is locked by transaction {holder.id} of somebody"
    assert job.status == "pending" and said in job.failures[0]
    holder.roll_back()
    job.reset()
    hands.drain()
    assert job.status == "complete" and bank.balances() == [990, 1010]


def test_an_abort_rolls_back_at_once(bank, worker, wait_until):
    worker()
    job = bank.push(order=bank.order(pause_ms=60_000))
    wait_until(lambda: Lock.objects.exists())
    job.abort()
    assert bank.balances() == [1000, 1000]
    assert job.status == "failed"


def test_what_a_dead_worker_left_is_rolled_back_before_the_retry(
    bank, worker, wait_until, sweep, expire_leases
):
    process = worker()
    job = bank.push(order=bank.order(pause_ms=60_000))
    wait_until(lambda: Lock.objects.exists() and job.status == "progress")
    process.kill()
    assert expire_leases(process) == 1
    wait_until(lambda: [sweep(), job.status == "pending"][1])
    assert bank.balances() == [1000, 1000]
    assert Run.objects.get().outcome == "lost"


@pytest.fixture
def left_open(bank):
    """Leave a transaction open, as an earlier attempt at a job that never ended it."""
    job = bank.push()
    txn = Transaction(owner=f"job:{job.id}")
    txn.put("bank_accounts", "ada", {"owner": "ada", "balance": 0, "transfers": 0})
    AttemptTransaction.objects.create(
        job_id=job.id, attempt=1, transaction=txn.id, slot=1, slot_epoch=1
    )
    QueuedJob.objects.filter(pk=job.id).update(suspect=True, attempt=F("attempt") + 1)
    return job, txn


def test_the_next_attempt_begins_with_rolling_back_the_earlier(bank, left_open, hands):
    job, txn = left_open
    hands.drain()
    assert job.status == "complete" and bank.balances() == [990, 1010]
    assert TransactionRow.objects.get(pk=txn.id).status == "rolled_back"


def test_one_that_is_reserved_behind_others_is_begun_alone_too(bank, left_open, act, hands):
    job, txn = left_open
    bank.queue.push_many(act, [1, 2], priority=2)
    hands.drain()
    assert job.status == "complete" and bank.balances() == [990, 1010]
    assert TransactionRow.objects.get(pk=txn.id).status == "rolled_back"


def test_what_cannot_be_rolled_back_keeps_the_next_attempt_from_beginning(bank, left_open, hands):
    job, txn = left_open
    QueuedJob.objects.update(max_failures=1, back_off=3_600_000)
    with poisoned("allocation_document", """NEW."key" = 'ada'"""):
        hands.drain()
    assert f"transaction {txn.id} of an earlier attempt is stuck" in job.failures[0]
    assert job.status == "pending"
    job.reset()
    hands.drain()
    assert job.status == "complete" and bank.balances() == [990, 1010]
