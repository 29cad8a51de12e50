"""Each rule is silent when all is well, and names the row that breaks it."""

import pytest

from allocation.transactions import Transaction
from allocation.transactions.curator import invariants, operator_actions
from allocation.transactions.curator.repairs import end_orphaned_waits
from allocation.transactions.models import Document, DocumentVersion, JournalEntry, Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from atributo_site.core.models.pieces import Lasting, Sample

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
    txn.roll_back()
    JournalEntry.objects.update(undo="")
    assert broken() == {"half rolled back", "history disagrees"}


def test_a_present_without_a_history_is_found(store):
    DocumentVersion.objects.all().delete()
    assert broken() == {"without history"}


def test_an_operator_may_free_a_key_of_a_stuck_transaction(txn):
    Row.objects.update(status="stuck")
    operator_actions.force_release(Lock.objects.get().pk, "it is needed")
    assert broken() == set()


def test_an_operator_may_accept_what_is_half_undone(txn):
    Row.objects.update(status="stuck")
    JournalEntry.objects.update(undo="restored")
    DocumentVersion.objects.filter(transaction=txn.id).update(undone=True)
    operator_actions.complete(txn.id, "it is right")
    assert broken() == {"without history"}  # the planted line; the value was not restored


def test_a_wait_that_ends_by_itself_breaks_nothing(store, txn):
    wait = LockWait.objects.create(
        document=Document.objects.get(key="old"), transaction_id=txn.id, mode="shared"
    )
    Lock.objects.all().delete()
    Row.objects.update(status="completed", finished_at=LONG_AGO)
    rule = Lasting(invariants.wait_of_finished, seconds=60)
    assert rule(Sample()) == []
    assert len(rule.since) == 1
    wait.delete()
    assert (rule(), rule.since) == ([], {})


def test_the_curator_ends_the_wait_of_a_client_that_was_killed(txn):
    document = Document.objects.get(key="old")
    LockWait.objects.create(document=document, transaction_id=txn.id, mode="shared")
    txn.complete()
    lease = HeldLease.take("curator", "test", 60)
    assert end_orphaned_waits(database_now(), lease) == 1
    assert end_orphaned_waits(database_now(), lease) == 0


def test_the_wait_of_an_open_transaction_is_left_alone(txn):
    document = Document.objects.get(key="old")
    LockWait.objects.create(document=document, transaction_id=txn.id, mode="shared")
    assert end_orphaned_waits(database_now(), HeldLease.take("curator", "test", 60)) == 0
