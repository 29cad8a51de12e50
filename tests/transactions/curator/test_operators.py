"""What an operator may do, and what it leaves behind."""

import pytest

from allocation.transactions import FailedToRollBack, JobIsCompleted, JobIsRolledBack, Transaction
from allocation.transactions.curator import operator_actions
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models import Event
from tests.transactions.engine.poison import poisoned

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
    assert operator_actions.roll_back(txn.id, "wrong data") == 1
    assert store.get("c", "old").json == {"v": 0}
    assert reasons(f"transaction:{txn.id}") == ["wrong data"]
    with pytest.raises(JobIsRolledBack):
        txn.put("c", "old", {"v": 2})


def test_completing_lets_the_changes_stand(store, txn):
    operator_actions.complete(txn.id, "checked by hand")
    assert store.get("c", "old").json == {"v": 1}
    assert Row.objects.get(pk=txn.id).reason == "checked by hand"
    with pytest.raises(JobIsCompleted):
        txn.put("c", "old", {"v": 2})


def test_a_reason_is_required(store, txn):
    for act in (operator_actions.roll_back, operator_actions.complete):
        with pytest.raises(operator_actions.ReasonMissing):
            act(txn.id, "  ")
    assert Row.objects.get(pk=txn.id).status == "active"


def test_what_is_over_or_unknown_is_refused(store, txn):
    txn.complete()
    for act in (operator_actions.roll_back, operator_actions.complete, operator_actions.retry):
        with pytest.raises(operator_actions.NotPossibleNow):
            act(txn.id, "why not")
        with pytest.raises(operator_actions.TransactionNotFound):
            act(10**9, "why not")


def test_what_somebody_is_rolling_back_now_is_refused(txn):
    Row.objects.claim(txn.id, 1, "timed_out", 60)
    with pytest.raises(operator_actions.NotPossibleNow):
        operator_actions.roll_back(txn.id, "again")


def test_releasing_a_lock_of_a_running_transaction_ends_it(store, txn):
    operator_actions.force_release(Lock.objects.get().pk, "holder hangs")
    assert store.get("c", "old").json == {"v": 0}
    assert reasons("document:c/old") == ["holder hangs"]
    assert Event.objects.about("document:c/old").get().facts["fence"] == 1
    with pytest.raises(JobIsRolledBack):
        txn.complete()


def test_a_key_with_the_longest_names_is_released_and_told_of(store):
    names = ["c" * 255, "k" * 255]
    Transaction(store).lock(*names)
    operator_actions.force_release(Lock.objects.get().pk, "holder hangs")
    assert reasons(f"document:{'/'.join(names)}") == ["holder hangs"]
    assert reasons(f"document:{'/'.join(names)[:-1]}x") == []


def test_a_stuck_transaction_keeps_its_locks_until_an_operator_decides(store, stuck):
    lock = Lock.objects.get()
    operator_actions.force_release(lock.pk, "we need the key")
    assert not Lock.objects.exists()
    assert Row.objects.get(pk=stuck.id).status == "stuck"


def test_a_stuck_transaction_can_be_tried_again_at_once(store, txn, let_expire, lease, now):
    let_expire(txn)
    with poisoned("allocation_document", "NEW.key = 'old'"):
        expired_transactions(now, lease)
        with pytest.raises(FailedToRollBack, match="poisoned"):
            operator_actions.retry(txn.id, "maybe now\x00")
    assert reasons(f"transaction:{txn.id}") == [None, "maybe now"]
    assert Row.objects.get(pk=txn.id).attempts == 2
    assert operator_actions.retry(txn.id, "mended") == 1
    assert store.get("c", "old").json == {"v": 0}


def test_a_stuck_transaction_can_be_accepted_as_it_is(store, stuck):
    operator_actions.complete(stuck.id, "the change was right")
    assert store.get("c", "old").json == {"v": 1}
    assert not Lock.objects.exists()
