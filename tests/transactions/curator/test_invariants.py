"""Each rule is silent when all is well, and names the row that breaks it."""

import pytest

from allocation.transactions import Transaction
from allocation.transactions.curator import invariants
from allocation.transactions.models import Document, DocumentVersion, Lock
from allocation.transactions.models import Transaction as Row

pytestmark = pytest.mark.django_db(transaction=True)
LONG_AGO = "2020-01-01T00:00Z"


def broken():
    return {name for name, _, find in invariants.INVARIANTS if find()}


@pytest.fixture
def txn(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    return txn


def test_nothing_is_broken_while_all_is_well(store, txn):
    Transaction(store).get("c", "doomed", shared=True)
    Transaction(store).roll_back()
    assert broken() == set()


def test_a_second_holder_is_found(store, txn):
    other = Transaction(store)
    document = Document.objects.get(key="old")
    Lock.objects.create(document=document, transaction_id=other.id, mode="shared", token=1)
    assert broken() == {"shared and exclusive"}


def test_a_token_ahead_of_its_key_is_found(txn):
    Lock.objects.update(token=99)
    assert broken() == {"token ahead"}


def test_a_lock_that_outlived_its_transaction_is_found(txn):
    Row.objects.update(status="completed", finished_at=LONG_AGO)
    assert broken() == {"locked by finished"}


def test_a_forgotten_transaction_is_found(txn):
    Row.objects.update(expires_at=LONG_AGO)
    assert broken() == {"forgotten"}


def test_a_write_that_was_not_undone_is_found(txn):
    Row.objects.update(status="rolled_back", finished_at=LONG_AGO)
    Lock.objects.all().delete()
    assert broken() == {"half rolled back"}


def test_a_present_without_a_history_is_found(store):
    DocumentVersion.objects.all().delete()
    assert broken() == {"without history"}
