"""What a rollback has undone is no version of its document, whichever door is asked."""

import json
from importlib import import_module
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command

from allocation.transactions import Transaction
from allocation.transactions.curator import operator_actions
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.curator.repairs import remove_old_transactions
from allocation.transactions.engine.roll_back import FAILURES
from allocation.transactions.models import DocumentVersion, JournalEntry
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models.clock import database_now

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "never-committed"


@pytest.fixture
def written(store):
    """An open transaction that wrote two keys, one of them twice, and the refs it left."""
    txn = Transaction(store)
    refs = [txn.put("c", "old", {"v": f"{CANARY}-{number}"}).ref for number in (1, 2)]
    refs.append(txn.put("c", "new", {"v": CANARY}).ref)
    return txn, refs


def by_the_client(txn, let_expire, lease):
    txn.roll_back()


def by_an_error(txn, let_expire, lease):
    with pytest.raises(FAILURES):
        txn.delete("c", "missing")


def by_the_deadline(txn, let_expire, lease):
    let_expire(txn)
    with pytest.raises(FAILURES):
        txn.get("c", "old")


def by_the_curator(txn, let_expire, lease):
    let_expire(txn)
    assert expired_transactions(database_now(), lease) == 1


def by_an_operator(txn, let_expire, lease):
    operator_actions.roll_back(txn.id, "wrong")


ENDS = [by_the_client, by_an_error, by_the_deadline, by_the_curator, by_an_operator]


@pytest.mark.parametrize("end", ENDS)
def test_no_ref_leads_to_a_value_that_was_rolled_back(store, written, end, let_expire, lease):
    txn, refs = written
    end(txn, let_expire, lease)
    for key in ("old", "new"):
        assert CANARY not in json.dumps([row.get("value") for row in store.refs("c", key).all()])
        named = {row["path"]["ref"] for row in store.refs("c", key, values=False).all()}
        assert named.isdisjoint(refs)
        for ref in refs:
            assert store.get("c", key, ref).status_code == 404
            assert store.get("c", key, ref, raise_if_locked=False).status_code == 404
            assert store.head("c", key, ref).status_code == 404
    assert store.get("c", "old").json == {"v": 0} and not store.get("c", "new").ok


def test_what_a_third_party_wrote_over_it_stays_and_the_rest_goes(store, written):
    txn, refs = written
    theirs = store.put("c", "old", {"v": "theirs"}, raise_if_locked=False).ref
    txn.roll_back()
    assert [row["value"]["v"] for row in store.refs("c", "old").all()] == ["theirs", 0]
    assert store.get("c", "old", theirs).json == {"v": "theirs"}
    assert not store.get("c", "old", refs[1]).ok


def test_what_a_completed_transaction_wrote_stays_in_the_history(store, written):
    txn, refs = written
    txn.complete()
    assert [row["path"]["ref"] for row in store.refs("c", "old").all()][:2] == refs[1::-1]
    assert store.get("c", "old", refs[0]).json == {"v": f"{CANARY}-1"}


def test_it_stays_hidden_when_retention_has_removed_the_transaction(store, written, lease):
    txn, refs = written
    txn.roll_back()
    Row.objects.filter(pk=txn.id).update(finished_at="2000-01-01T00:00Z")
    assert remove_old_transactions(database_now(), lease) == 1
    assert not store.get("c", "old", refs[1]).ok
    assert CANARY not in json.dumps(store.refs("c", "old").all(), default=str)


def test_rest_screens_and_commands_show_it_nowhere(store, written, rest_as, client_as):
    txn, refs = written
    txn.roll_back()
    rest, viewer, out = rest_as("operator"), client_as("viewer"), StringIO()
    call_command("documents", "history", "c", "old", stdout=out)
    call_command("documents", "search", "c", f'v:"{CANARY}-2"', stdout=out)
    said = [
        out.getvalue(),
        rest.get("/api/v1/collections/c/old/refs").text,
        rest.get(f"/api/v1/collections/c/old?ref={refs[1]}&raise_if_locked=false").text,
        rest.get("/api/v1/collections/c").text,
        rest.get("/api/v1/events").text,
        viewer.get("/documents/c/old/").text,
        viewer.get(f"/documents/c/old/?from={refs[0]}&to={refs[1]}").text,
        viewer.get("/admin/allocation/documentversion/").text,
    ]
    assert [text for text in said if CANARY in text] == []
    assert refs[1] not in viewer.get("/documents/c/old/").text


def test_the_journal_keeps_it_and_says_that_it_is_undone(written, client_as, rest_as):
    txn, _ = written
    txn.roll_back()
    page = client_as("viewer").get(f"/transactions/{txn.id}/").text
    assert f"{CANARY}-2" in page and "these changes were rolled back" in page
    shown = rest_as("viewer").get(f"/api/v1/transactions/{txn.id}").json()
    assert shown["status"] == "rolled_back"
    assert {line["undo"] for line in shown["journal"]} == {"restored"}


def test_the_migration_hides_what_was_rolled_back_before_it(store, written):
    txn, refs = written
    txn.roll_back()
    other = Transaction(store)
    stands = other.put("c", "doomed", {"v": 1}).ref
    other.complete()
    DocumentVersion.objects.update(undone=False)
    import_module("allocation.migrations.0013_who_began_and_what_was_undone").mark_undone(
        apps, None
    )
    assert JournalEntry.objects.filter(transaction=txn.id).count() == 3
    assert not store.get("c", "old", refs[1]).ok and store.get("c", "doomed", stands).ok
