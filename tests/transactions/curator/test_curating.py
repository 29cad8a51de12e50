"""What the active curator mends, and what it must leave alone."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from allocation.transactions import JobIsRolledBack, JobIsTimedOut, Transaction
from allocation.transactions.curator import repairs
from allocation.transactions.curator.expired import expired_transactions, free_orphaned_locks
from allocation.transactions.curator.repairs import OldVersions, remove_old_transactions
from allocation.transactions.models import DocumentVersion, JournalEntry, Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.core.errors import LeaseLost
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from tests.transactions.engine.plans import change_everything
from tests.transactions.engine.poison import poisoned

pytestmark = pytest.mark.django_db(transaction=True)


def values(store, *keys):
    return [store.get("c", key, raise_if_locked=False).json for key in keys]


def test_an_expired_transaction_is_rolled_back(store, let_expire, lease):
    txn = Transaction(store)
    new = change_everything(txn)
    let_expire(txn)
    assert expired_transactions(database_now(), lease) == 1
    assert store.get("c", new).status_code == 404
    assert values(store, "old", "doomed") == [{"v": 0}, {"v": 0}]
    assert not Lock.objects.exists()
    row = Row.objects.get(pk=txn.id)
    assert (row.status, row.cause) == ("rolled_back", "timed_out")
    assert Event.objects.about(f"transaction:{txn.id}").get().kind == "transaction.curated"


def test_a_transaction_that_only_read_loses_its_locks_after_the_grace(store, lease):
    txn = Transaction(store)
    txn.get("c", "old")
    expires_at = Row.objects.get(pk=txn.id).expires_at
    assert expired_transactions(expires_at + timedelta(seconds=0.9), lease) == 0
    assert Lock.objects.count() == 1
    assert expired_transactions(expires_at + timedelta(seconds=1.1), lease) == 1
    assert Lock.objects.count() == 0


def test_a_late_operation_after_the_curator_writes_nothing(store, let_expire, lease):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    let_expire(txn)
    expired_transactions(database_now(), lease)
    with pytest.raises(JobIsTimedOut):
        txn.put("c", "old", {"v": 2})
    assert values(store, "old") == [{"v": 0}]
    assert store.get("c", "old").status_code == 200


def test_a_transaction_that_completed_after_the_listing_stands(store, lease):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    stale = Row.objects.get(pk=txn.id)
    txn.complete()
    assert not Row.objects.claim(stale.pk, stale.epoch, "timed_out", 5)
    assert values(store, "old") == [{"v": 1}]


def test_changes_of_a_third_party_survive_the_roll_back(store, let_expire, lease):
    txn = Transaction(store)
    new = txn.post("c", {"v": 1}).key
    txn.put("c", "old", {"v": 1})
    txn.delete("c", "doomed")
    for key in (new, "old", "doomed"):
        store.put("c", key, {"v": "theirs"}, raise_if_locked=False).raise_for_status()
    let_expire(txn)
    assert expired_transactions(database_now(), lease) == 1
    assert values(store, new, "old", "doomed") == [{"v": "theirs"}] * 3
    assert set(JournalEntry.objects.values_list("undo", flat=True)) == {"left_alone"}
    assert not Lock.objects.exists()


def test_the_same_value_written_by_a_third_party_is_theirs(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    store.put("c", "old", {"v": 1}, raise_if_locked=False)
    txn.roll_back()
    assert values(store, "old") == [{"v": 1}]


def test_what_cannot_be_undone_is_stuck_and_holds_up_no_other(store, let_expire, lease):
    broken, fine = Transaction(store), Transaction(store)
    broken.put("c", "old", {"v": 1})
    broken.put("c", "more", {"v": 1})
    fine.put("c", "doomed", {"v": 1})
    for txn in (broken, fine):
        let_expire(txn)
    with poisoned("allocation_document", "NEW.key = 'old'"):
        assert expired_transactions(database_now(), lease) == 1
    row = Row.objects.get(pk=broken.id)
    assert (row.status, row.attempts, "poisoned" in row.error) == ("stuck", 1, True)
    assert Lock.objects.filter(transaction=broken.id).count() == 2
    assert values(store, "doomed", "old") == [{"v": 0}, {"v": 1}]
    assert store.get("c", "more", raise_if_locked=False).status_code == 404


def test_a_stuck_transaction_is_tried_again_later_and_later(store, let_expire, lease):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    let_expire(txn)
    now = database_now()
    with poisoned("allocation_document", "NEW.key = 'old'"):
        expired_transactions(now, lease)
        assert expired_transactions(now, lease) == 0
        expired_transactions(now + timedelta(minutes=1), lease)
    assert Row.objects.get(pk=txn.id).attempts == 2
    assert expired_transactions(now + timedelta(minutes=2), lease) == 1
    assert values(store, "old") == [{"v": 0}]


def test_a_roll_back_that_was_left_half_way_is_resumed(store, let_expire, lease):
    txn = Transaction(store)
    change_everything(txn)
    Row.objects.claim(txn.id, 1, "requested", 5)
    let_expire(txn)
    assert expired_transactions(database_now(), lease) == 1
    assert values(store, "old", "doomed") == [{"v": 0}, {"v": 0}]
    with pytest.raises(JobIsRolledBack):
        txn.put("c", "old", {"v": 3})


def test_a_curator_that_lost_its_lease_changes_nothing(store, let_expire, lease):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    let_expire(txn)
    over = Transaction(store)
    over.complete()
    document = JournalEntry.objects.get(transaction=txn.id).document
    Lock.objects.create(document=document, transaction_id=over.id, mode="shared", token=9)
    lease.release()
    assert HeldLease.take("curator", "successor", 3600) is not None
    for repair in (expired_transactions, free_orphaned_locks, remove_old_transactions):
        with pytest.raises(LeaseLost):
            repair(database_now(), lease)
    assert Row.objects.get(pk=txn.id).status == "active"
    assert values(store, "old") == [{"v": 1}]


def test_a_lock_that_outlived_its_transaction_is_freed(store, lease):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    txn.complete()
    document = JournalEntry.objects.get(transaction=txn.id).document
    future = database_now() + timedelta(days=365)
    lock = Lock.objects.create(document=document, transaction_id=txn.id, mode="exclusive", token=9)
    Lock.objects.filter(pk=lock.pk).update(acquired_at=future)
    assert free_orphaned_locks(database_now(), lease) == 1
    assert not Lock.objects.exists()


def test_retention_removes_old_finished_transactions_alone(store, lease, let_expire):
    done, running = Transaction(store), Transaction(store)
    done.put("c", "old", {"v": 1})
    done.complete()
    running.put("c", "doomed", {"v": 1})
    assert remove_old_transactions(database_now(), lease) == 0
    assert remove_old_transactions(database_now() + timedelta(days=31), lease) == 1
    assert list(Row.objects.values_list("pk", flat=True)) == [running.id]
    assert JournalEntry.objects.get().transaction_id == running.id
    assert [version["ref"] for version in store_refs(store)]


def test_retention_neither_reads_nor_changes_the_history_of_documents(store, lease):
    """There is no index by transaction: each piece would read every version of every document."""
    with Transaction(store) as txn:
        ref = txn.put("c", "old", {"v": 1}).ref
    with CaptureQueriesContext(connection) as asked:
        assert remove_old_transactions(database_now() + timedelta(days=31), lease) == 1
    assert not [query for query in asked if "documentversion" in query["sql"]]
    assert store.refs("c", "old").next()["results"][0]["path"]["ref"] == ref
    assert DocumentVersion.objects.get(ref=ref).transaction_id == txn.id


def store_refs(store):
    from allocation.transactions.models import DocumentVersion

    return list(DocumentVersion.objects.filter(document__key="old").values("ref"))


def test_a_key_of_a_dead_holder_stays_locked_for_the_delay(store, let_expire, lease, settings):
    settings.ATRIBUTO = replaced(settings.ATRIBUTO, lock_delay_ms=60_000)
    txn = Transaction(store)
    txn.get("c", "old")
    let_expire(txn)
    expired_transactions(database_now(), lease)
    assert not Lock.objects.exists()
    with pytest.raises(Exception, match="after a dead holder"):
        Transaction(store).put("c", "old", {"v": 2})


def test_old_versions_go_and_the_newest_stays(store, lease, now, monkeypatch):
    monkeypatch.setattr(repairs, "PIECE", 3)
    for number in range(4):
        store.put("c", "old", {"v": number})
    long_ago = now - timedelta(days=91)
    recent = DocumentVersion.objects.order_by("pk").last()
    DocumentVersion.objects.exclude(pk=recent.pk).update(at=long_ago)
    store.put("c", "new", {"v": 1})
    sweep = OldVersions()
    assert [sweep(now, lease) for _ in range(3)] == [2, 2, 0]
    kept = DocumentVersion.objects.order_by("pk")
    assert [str(version.document) for version in kept] == ["c/doomed", "c/old", "c/new"]
    assert sweep.position == 0


def test_old_versions_of_a_locked_key_stay_since_it_may_get_them_back(store, lease, now):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    DocumentVersion.objects.update(at=now - timedelta(days=91))
    assert OldVersions()(now, lease) == 0
    txn.roll_back()
    ref = store.get("c", "old").ref
    assert [row["path"]["ref"] for row in store.refs("c", "old").all()] == [ref]


def test_a_restored_version_that_is_gone_is_in_the_history_again(store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    DocumentVersion.objects.filter(transaction=None).delete()
    txn.roll_back()
    found = store.get("c", "old")
    assert [row["path"]["ref"] for row in store.refs("c", "old").all()] == [found.ref]
    assert found.json == {"v": 0}


def replaced(environment, **changes):
    from dataclasses import replace

    return replace(environment, **changes)
