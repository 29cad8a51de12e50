"""Large roll backs go piece by piece, and small ones never wait for them."""

import pytest
from django.db import connection, connections
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext

from allocation.transactions import Transaction
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.engine import pieces
from allocation.transactions.models import Document, JournalEntry, Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from tests.servers.waiting import wait_until
from tests.transactions.engine.poison import poisoned

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def short_pieces(monkeypatch):
    """Four keys per database transaction, so that a dozen keys are many."""
    monkeypatch.setattr(pieces, "PIECE", 4)
    monkeypatch.setattr(pieces, "FEWEST", 2)


def begun(store, collection, keys):
    txn = Transaction(store)
    for number in range(keys):
        txn.put(collection, f"{number:02}", {"v": 1})
    return txn


def sweep(lease):
    """One sweep whose time is over after every transaction had one piece."""
    swept = expired_transactions(database_now(), lease, seconds=0)
    ended = database_now()
    wait_until(lambda: database_now() > ended)  # what is left is due again at that moment
    return swept


def status(txn):
    return Row.objects.get(pk=txn.id).status


def statements_of(act):
    with CaptureQueriesContext(connection) as asked:
        act()
    return len(asked)


def test_thirty_keys_are_rolled_back_by_as_many_statements_as_three(store):
    begun(store, "first", 1).roll_back()  # PostgreSQL prepares the statements
    few, many = begun(store, "few", 3), begun(store, "many", 30)
    few_statements = statements_of(few.roll_back)
    assert statements_of(many.roll_back) == few_statements
    assert not Document.objects.filter(collection="many").present().exists()


def test_twenty_expired_ones_take_as_many_statements_as_two(store, let_expire, lease):
    counts = []
    for number in (1, 2, 20):  # PostgreSQL prepares the statements with the first
        for txn in [begun(store, f"{number}-{each}", 1) for each in range(number)]:
            let_expire(txn)
        counts.append(statements_of(lambda: expired_transactions(database_now(), lease)))
    assert counts[1] == counts[2]
    assert not Row.objects.unfinished().exists()


def test_a_small_one_ends_in_the_first_sweep_though_a_large_one_came_before(
    store, let_expire, lease, short_pieces
):
    large, small = begun(store, "large", 12), begun(store, "small", 2)
    let_expire(large, seconds=7200)
    let_expire(small)
    assert sweep(lease) == 1
    assert (status(small), status(large)) == ("rolled_back", "rolling_back")
    assert Document.objects.filter(collection="large").present().count() == 10


def test_what_is_left_goes_on_in_the_next_sweep_and_is_told_as_one(
    store, let_expire, lease, short_pieces
):
    large = begun(store, "large", 10)
    let_expire(large)
    assert [sweep(lease) for _ in range(3)] == [0, 0, 1]
    assert not Document.objects.filter(collection="large").present().exists()
    assert not Lock.objects.exists()
    assert Event.objects.about(f"transaction:{large.id}").get().facts["restored"] == 10


def test_a_large_one_goes_to_the_end_of_the_line(store, let_expire, lease, short_pieces):
    large = begun(store, "large", 12)
    let_expire(large, seconds=7200)
    sweep(lease)
    later = begun(store, "later", 1)
    let_expire(later)
    overdue = Row.objects.overdue(database_now()).order_by("expires_at")
    assert [row.pk for row in overdue] == [later.id, large.id]


def test_what_somebody_writes_between_two_pieces_stays(store, let_expire, lease, short_pieces):
    large = begun(store, "large", 6)
    let_expire(large)
    sweep(lease)
    store.put("large", "00", {"v": "theirs"}, raise_if_locked=False).raise_for_status()
    sweep(lease)
    assert status(large) == "rolled_back"
    assert store.get("large", "00").json == {"v": "theirs"}
    undone = JournalEntry.objects.filter(transaction=large.id).values_list("undo", flat=True)
    assert sorted(undone) == ["left_alone", *["restored"] * 5]


def test_one_key_that_fails_holds_up_none_of_the_others(store, let_expire, lease):
    broken, fine = begun(store, "broken", 9), begun(store, "fine", 9)
    for txn in (broken, fine):
        let_expire(txn)
    with poisoned("allocation_document", "NEW.collection = 'broken' AND NEW.key = '04'"):
        assert expired_transactions(database_now(), lease) == 1
    present = Document.objects.present().filter(collection__in=["broken", "fine"])
    assert [str(document) for document in present] == ["broken/04"]
    assert (status(broken), status(fine)) == ("stuck", "rolled_back")


@pytest.mark.only_on("postgresql")
def test_a_key_that_somebody_is_writing_comes_later(store, let_expire, lease):
    txn = begun(store, "busy", 3)
    let_expire(txn)
    other = connections.create_connection("default")
    with atomic(), other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT 1 FROM allocation_document WHERE key = '01' FOR UPDATE")
        assert sweep(lease) == 0
        cursor.execute("ROLLBACK")
    other.close()
    assert status(txn) == "rolling_back"
    assert [str(row) for row in Document.objects.present().filter(collection="busy")] == ["busy/01"]
    assert sweep(lease) == 1


def test_an_optimistic_writer_gets_no_412_after_a_roll_back(store):
    seen = store.get("c", "old").ref
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    txn.delete("c", "doomed")
    txn.roll_back()
    assert store.get("c", "old").ref == seen
    assert [row["path"]["ref"] for row in store.refs("c", "old").all()] == [seen]
    assert store.put("c", "old", {"v": 2}, ref=seen).ok
