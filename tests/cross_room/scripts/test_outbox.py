"""A push inside a transaction appears when it completes, and never otherwise."""

import pytest

import queues
from allocation.transactions.engine.transaction import Transaction
from allocation.transactions.errors import JobIsRolledBack
from queues.models import HeldPush, QueuedJob
from queues.runs import outbox


@pytest.fixture
def txn(bank):
    return Transaction()


def test_a_push_appears_when_its_transaction_completes(bank, txn):
    job_id = bank.queue.push(bank.script, bank.order(), transaction=txn)
    assert bank.queue.all() == []
    txn.complete()
    assert bank.queue.pending() == [job_id]


def test_a_push_vanishes_when_its_transaction_is_rolled_back(bank, txn, sweep):
    bank.queue.push(bank.script, bank.order(), transaction=txn)
    txn.roll_back()
    sweep()
    assert bank.queue.all() == [] and not HeldPush.objects.exists()


def test_a_crash_after_the_commit_point_is_healed(bank, txn, sweep):
    job_id = bank.queue.push(bank.script, bank.order(), transaction=txn)
    Transaction.attach(txn.id).complete()  # a process that knows nothing of the push
    assert bank.queue.all() == []
    assert sweep()["held pushes"] == 1
    assert bank.queue.pending() == [job_id]


def test_nothing_is_delivered_while_the_transaction_is_open(bank, txn, sweep):
    bank.queue.push(bank.script, bank.order(), transaction=txn)
    assert sweep()["held pushes"] == 0
    assert bank.queue.all() == []


def test_a_push_into_a_transaction_that_is_over_is_refused(bank, txn):
    txn.roll_back()
    with pytest.raises(JobIsRolledBack):
        bank.queue.push(bank.script, bank.order(), transaction=txn)


def test_a_push_into_a_transaction_that_never_was_says_so(bank):
    with pytest.raises(JobIsRolledBack, match="999999 is no longer known"), outbox.holding(999_999):
        bank.queue.push(bank.script, bank.order())


def test_many_pushes_and_their_options_are_held(bank, txn):
    options = {"priority": 2, "delay": 60_000}
    ids = bank.queue.push_many(bank.script, [bank.order()] * 3, transaction=txn, **options)
    txn.complete()
    jobs = QueuedJob.objects.all()
    assert [str(job.pk) for job in jobs] == ids
    assert {job.priority for job in jobs} == {2}
    assert all(job.due_at > job.created_at for job in jobs)


def test_a_job_with_the_same_unique_key_supersedes_a_held_push(bank, txn):
    bank.queue.push(bank.script, bank.order(), transaction=txn, unique_key="once")
    first = bank.queue.push(bank.script, bank.order(), unique_key="once")
    txn.complete()
    assert bank.queue.all() == [first]


def test_what_is_pushed_after_the_block_does_not_wait(bank, txn):
    with outbox.holding(txn.id):
        bank.queue.push(bank.script, bank.order())
    now = queues.get("money").push(bank.script, bank.order())
    assert bank.queue.all() == [now]
