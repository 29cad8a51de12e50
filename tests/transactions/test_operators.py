"""What an operator may do, and what it leaves behind."""

import pytest

from allocation.models import Event
from allocation.transactions import (
    FailedToRollBack,
    JobIsCompleted,
    JobIsRolledBack,
    Transaction,
    operators,
)
from allocation.transactions.curate import expired_transactions
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from tests.transactions.poison import poisoned

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def txn(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    return txn


@pytest.fixture
def stuck(txn, let_expire, lease, now):
    let_expire(txn)
    with poisoned("allocation_document", "NEW.key = 'old'"):
        expired_transactions(now, lease)
        yield txn


def reasons(subject):
    return [event.facts.get("reason") for event in Event.objects.about(subject)]


def test_rolling_back_ends_a_running_transaction(store, txn):
    assert operators.roll_back(txn.id, "wrong data") == 1
    assert store.get("c", "old").json == {"v": 0}
    assert reasons(f"transaction:{txn.id}") == ["wrong data"]
    with pytest.raises(JobIsRolledBack):
        txn.put("c", "old", {"v": 2})


def test_completing_lets_the_changes_stand(store, txn):
    operators.complete(txn.id, "checked by hand")
    assert store.get("c", "old").json == {"v": 1}
    assert Row.objects.get(pk=txn.id).reason == "checked by hand"
    with pytest.raises(JobIsCompleted):
        txn.put("c", "old", {"v": 2})


def test_a_reason_is_required(store, txn):
    for act in (operators.roll_back, operators.complete):
        with pytest.raises(operators.ReasonMissing):
            act(txn.id, "  ")
    assert Row.objects.get(pk=txn.id).status == "active"


def test_what_is_over_or_unknown_is_refused(store, txn):
    txn.complete()
    for act in (operators.roll_back, operators.complete, operators.retry):
        with pytest.raises(operators.NotPossibleNow):
            act(txn.id, "why not")
        with pytest.raises(operators.TransactionNotFound):
            act(10**9, "why not")


def test_what_somebody_is_rolling_back_now_is_refused(txn):
    Row.objects.claim(txn.id, 1, "timed_out", 60)
    with pytest.raises(operators.NotPossibleNow):
        operators.roll_back(txn.id, "again")


def test_releasing_a_lock_of_a_running_transaction_ends_it(store, txn):
    operators.force_release(Lock.objects.get().pk, "holder hangs")
    assert store.get("c", "old").json == {"v": 0}
    assert reasons("document:c/old") == ["holder hangs"]
    assert Event.objects.about("document:c/old").get().facts["fence"] == 1
    with pytest.raises(JobIsRolledBack):
        txn.complete()


def test_a_key_with_the_longest_names_is_released_and_told_of(store):
    names = ["c" * 255, "k" * 255]
    Transaction(store).lock(*names)
    operators.force_release(Lock.objects.get().pk, "holder hangs")
    assert reasons(f"document:{'/'.join(names)}") == ["holder hangs"]
    assert reasons(f"document:{'/'.join(names)[:-1]}x") == []


def test_a_stuck_transaction_keeps_its_locks_until_an_operator_decides(store, stuck):
    lock = Lock.objects.get()
    operators.force_release(lock.pk, "we need the key")
    assert not Lock.objects.exists()
    assert Row.objects.get(pk=stuck.id).status == "stuck"


def test_a_stuck_transaction_can_be_tried_again_at_once(store, txn, let_expire, lease, now):
    let_expire(txn)
    with poisoned("allocation_document", "NEW.key = 'old'"):
        expired_transactions(now, lease)
        with pytest.raises(FailedToRollBack, match="poisoned"):
            operators.retry(txn.id, "maybe now\x00")
    assert reasons(f"transaction:{txn.id}") == [None, "maybe now"]
    assert Row.objects.get(pk=txn.id).attempts == 2
    assert operators.retry(txn.id, "mended") == 1
    assert store.get("c", "old").json == {"v": 0}


def test_a_stuck_transaction_can_be_accepted_as_it_is(store, stuck):
    operators.complete(stuck.id, "the change was right")
    assert store.get("c", "old").json == {"v": 1}
    assert not Lock.objects.exists()
