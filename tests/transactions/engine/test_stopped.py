"""Processes that sleep through their own end: what they do afterwards is refused."""

import pytest

from allocation.transactions import Transaction
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.models import DocumentVersion
from allocation.transactions.models import Transaction as Row
from atributo_site.core.errors import AtributoError, LeaseLost
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from tests.transactions.engine.children import child
from tests.transactions.engine.crashes import expire_everything

pytestmark = pytest.mark.django_db(transaction=True)


def writes_twice(process):
    txn = Transaction()
    txn.put("c", "old", {"v": 1})
    process.tell("written")
    process.told()
    try:
        txn.put("c", "old", {"v": 2})
        txn.complete()
    except AtributoError as error:
        process.tell(type(error).__name__)
    else:
        process.tell("done")


def curates_late(process):
    """Its lease is still good when it lists what is overdue, and gone when it acts."""
    lease = HeldLease.take("curator", "sleeper", 3600)
    process.tell("active")
    process.told()
    try:
        expired_transactions(database_now(), lease)
    except LeaseLost:
        process.tell("lease lost")
    else:
        process.tell("curated")


def test_a_transaction_that_slept_beyond_its_time_writes_nothing(store, lease):
    with child(writes_twice) as sleeper:
        assert sleeper.told() == "written"
        sleeper.stop()
        expire_everything()
        assert expired_transactions(database_now(), lease) == 1
        versions = DocumentVersion.objects.count()
        sleeper.tell()
        sleeper.go_on()
        assert sleeper.told() == "JobIsTimedOut"
    assert store.get("c", "old").json == {"v": 0}
    assert DocumentVersion.objects.count() == versions


def test_a_curator_that_slept_beyond_its_lease_mends_nothing(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    expire_everything()
    with child(curates_late) as sleeper:
        assert sleeper.told() == "active"
        sleeper.stop()
        Lease.objects.filter(role="curator").update(expires_at=database_now())
        successor = HeldLease.take("curator", "successor", 3600)
        sleeper.tell()
        sleeper.go_on()
        assert sleeper.told() == "lease lost"
    assert Row.objects.get(pk=txn.id).status == "active"
    assert expired_transactions(database_now(), successor) == 1
    assert store.get("c", "old").json == {"v": 0}


def test_a_process_killed_between_two_writes_is_rolled_back(store, lease):
    with child(writes_twice) as victim:
        assert victim.told() == "written"
    expire_everything()
    assert expired_transactions(database_now(), lease) == 1
    assert store.get("c", "old").json == {"v": 0}
