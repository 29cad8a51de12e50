"""The scenarios of the contract, on both databases."""

from datetime import timedelta

import pytest

from allocation.transactions import (
    CollectionKeyIsLocked,
    DocumentNotFound,
    InvalidDocument,
    JobIsCompleted,
    JobIsRolledBack,
    PreconditionFailed,
    RollbackCausedByException,
    Transaction,
)
from allocation.transactions.models import JournalEntry, Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models.clock import database_now
from tests.transactions.engine.plans import change_everything, six_calls

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_put_leaves_no_lock(client):
    client.put("c", "k", {"v": 1}).raise_for_status()
    assert client.get("c", "k").json == {"v": 1}
    assert not Lock.objects.exists()


def test_a_lock_is_there_until_its_transaction_ends(client):
    txn = Transaction(client)
    txn.lock("c", "k")
    assert Lock.objects.on("c", "k").get().transaction_id == txn.id
    txn.complete()
    assert not Lock.objects.exists()


@pytest.mark.parametrize("name", ["put", "get", "delete"])
def test_a_client_meets_the_lock_of_a_transaction(store, name):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    arguments = {"put": [{"v": 9}], "get": [], "delete": []}[name]
    with pytest.raises(CollectionKeyIsLocked) as met:
        getattr(store, name)("c", "old", *arguments)
    assert (met.value.collection, met.value.key, met.value.holder) == ("c", "old", txn.id)
    assert met.value.expires is not None
    getattr(store, name)("c", "old", *arguments, raise_if_locked=False).raise_for_status()


def test_a_completed_transaction_stands(store):
    txn = Transaction(store)
    new = change_everything(txn)
    txn.complete()
    assert store.get("c", new).json == {"v": 1}
    assert store.get("c", "old").json == {"v": 1}
    assert store.get("c", "doomed").status_code == 404
    assert not Lock.objects.exists()
    for call in six_calls(txn):
        with pytest.raises(JobIsCompleted):
            call()


def test_a_rolled_back_transaction_never_happened(store):
    txn = Transaction(store)
    new = change_everything(txn)
    txn.roll_back()
    assert store.get("c", new).status_code == 404
    assert store.get("c", "old").json == {"v": 0}
    assert store.get("c", "doomed").json == {"v": 0}
    assert not Lock.objects.exists()
    for call in six_calls(txn):
        with pytest.raises(JobIsRolledBack):
            call()


def test_every_touched_key_is_locked_and_every_write_journalled(store):
    txn = Transaction(store)
    new = change_everything(txn)
    locked = Lock.objects.filter(transaction=txn.id).values_list("document__key", flat=True)
    assert set(locked) == {new, "old", "doomed"}
    journal = JournalEntry.objects.filter(transaction=txn.id)
    assert [entry.action for entry in journal] == ["put", "put", "delete"]
    age = database_now() - Row.objects.get(pk=txn.id).started_at  # both know their time zone
    assert age < timedelta(seconds=60)


def test_an_operation_that_fails_undoes_the_earlier_ones(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    with pytest.raises(RollbackCausedByException) as met:
        txn.put("c", "doomed", {"v": float("nan")})
    assert isinstance(met.value.exception_causing_rollback, InvalidDocument)
    assert "NaN" in str(met.value) or "nan" in str(met.value)
    assert "InvalidDocument" in met.value.stacktrace_causing_rollback
    assert store.get("c", "old").json == {"v": 0}


@pytest.mark.parametrize("name", ["put", "get", "delete"])
def test_a_second_transaction_gives_way_and_the_first_goes_on(store, name):
    first, second = Transaction(store), Transaction(store)
    first.put("c", "old", {"v": 1})
    second.put("c", "doomed", {"v": 2})
    arguments = {"put": [{"v": 9}], "get": [], "delete": []}[name]
    with pytest.raises(RollbackCausedByException) as met:
        getattr(second, name)("c", "old", *arguments)
    assert isinstance(met.value.exception_causing_rollback, CollectionKeyIsLocked)
    assert second.is_rolled_back and store.get("c", "doomed").json == {"v": 0}
    first.complete()
    assert store.get("c", "old").json == {"v": 1}


def test_a_transaction_never_meets_its_own_lock(store):
    with Transaction(store) as txn:
        txn.get("c", "old", shared=True)
        txn.get("c", "old")
        txn.put("c", "old", {"v": 1})
        txn.delete("c", "old")
        txn.put("c", "old", {"v": 2})
    assert store.get("c", "old").json == {"v": 2}


REFUSED = {
    "delete of a missing key": (lambda txn: txn.delete("c", "none"), DocumentNotFound),
    "put with a stale ref": (lambda txn: txn.put("c", "old", {}, ref="ab" * 8), PreconditionFailed),
    "create only of a key": (lambda txn: txn.put("c", "old", {}, ref=False), PreconditionFailed),
    "delete with a stale ref": (lambda txn: txn.delete("c", "old", ref="ab"), PreconditionFailed),
    "an empty key": (lambda txn: txn.delete("c", ""), InvalidDocument),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refused_operation_rolls_back_and_changes_nothing(store, what):
    act, kind = REFUSED[what]
    txn = Transaction(store)
    txn.put("c", "doomed", {"v": 5})
    with pytest.raises(RollbackCausedByException) as met:
        act(txn)
    assert isinstance(met.value.exception_causing_rollback, kind)
    assert [store.get("c", key).json for key in ("old", "doomed")] == [{"v": 0}, {"v": 0}]


@pytest.mark.parametrize("original", [{}, [], 0, False, "", None])
def test_a_value_that_is_falsy_is_restored(client, original):
    client.put("c", "k", original)
    txn = Transaction(client)
    txn.put("c", "k", {"v": 1})
    txn.roll_back()
    restored = client.get("c", "k")
    assert (restored.status_code, restored.json) == (200, original)


def test_locks_of_names_that_join_alike_are_two(client):
    Transaction(client).put("a-b", "c", {})
    Transaction(client).put("a", "b-c", {})
    assert Lock.objects.count() == 2


def test_an_empty_key_never_means_the_whole_collection(store):
    with pytest.raises(InvalidDocument):
        store.delete("c", "")
    assert store.get("c", "old").status_code == 200


def test_a_context_manager_completes_or_rolls_back(store):
    with Transaction(store) as txn:
        txn.put("c", "old", {"v": 1})
    with pytest.raises(ZeroDivisionError), Transaction(store) as failing:
        failing.put("c", "old", {"v": 2})
        1 / 0  # noqa: B018
    assert txn.is_completed and failing.is_rolled_back
    assert store.get("c", "old").json == {"v": 1}
