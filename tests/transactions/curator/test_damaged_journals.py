"""Nothing is restored by a line that cannot be trusted: the transaction is stuck, and says why."""

import json
from contextlib import contextmanager
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from allocation.transactions import Transaction
from allocation.transactions.curator import operator_actions
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.models import Document, JournalEntry, Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models.clock import database_now

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def written(store):
    """A transaction that wrote a key twice, and another key."""
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    txn.put("c", "old", {"v": 2})
    txn.put("c", "doomed", {"v": 1})
    return txn


def lines():
    return JournalEntry.objects.filter(document__key="old").order_by("id")


def change_first(**columns):
    JournalEntry.objects.filter(pk=lines().first().pk).update(**columns)


def change_last(**columns):
    JournalEntry.objects.filter(pk=lines().last().pk).update(**columns)


@contextmanager
def unchecked():
    """SQLite without its checks, as a damaged file would be."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        yield cursor
        cursor.execute("PRAGMA ignore_check_constraints = OFF")


def store_text(sql):
    with unchecked() as cursor:
        cursor.execute(f"UPDATE allocation_journalentry SET {sql} WHERE id = {lines().first().pk}")


DAMAGES = {
    "no document": (lambda: change_first(document=10**9), "points to no document"),
    "no value": (lambda: change_first(before_value=None), "is missing"),
    "a strange action": (lambda: change_first(action="?"), "cannot be read"),
    "a value of nothing": (lambda: change_first(before_present=False), "was not there"),
    "no ref after": (lambda: change_last(after_ref=""), "does not name the version"),
    "another ref after": (lambda: change_last(after_ref="f" * 16), "version that stands"),
    "another ref before": (lambda: change_last(before_ref="f" * 16), "not in the history"),
    "a missing first line": (lambda: lines().first().delete(), "line before it is missing"),
    "no line at all": (lambda: lines().delete(), "no line tells what c/old was before"),
    "called undone": (lambda: lines().update(undo="restored?"), "no line tells what c/old"),
}
BROKEN_TEXTS = {
    "half of an object": ("before_value = '{\"v\": '", "is not JSON"),
    "not a number": ("before_value = 'NaN'", "is not JSON"),
    "no text": ("before_value = CAST(x'22ff22' AS TEXT)", "is not JSON"),
    "neither true nor false": ("before_present = 7", "was not there"),
}


def assert_quarantined(store, txn, sentence, lease, let_expire):
    fine = Transaction(store)
    fine.put("c", "other", {"v": 1})
    for each in (txn, fine):
        let_expire(each)
    assert expired_transactions(database_now(), lease) == 1
    row = Row.objects.get(pk=txn.id)
    assert row.status == "stuck" and sentence in row.error and "JournalDamaged" in row.error
    assert Document.objects.get(key="old").value == {"v": 2}
    assert Lock.objects.on("c", "old").filter(transaction=txn.id).exists()
    assert Row.objects.get(pk=fine.id).status == "rolled_back"


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_journal_is_stuck_and_overwrites_nothing(store, written, what, lease, let_expire):
    damage, sentence = DAMAGES[what]
    damage()
    assert_quarantined(store, written, sentence, lease, let_expire)


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("what", BROKEN_TEXTS)
def test_what_is_no_json_is_stuck_and_overwrites_nothing(store, written, what, lease, let_expire):
    sql, sentence = BROKEN_TEXTS[what]
    store_text(sql)
    assert_quarantined(store, written, sentence, lease, let_expire)


def test_a_line_of_another_transaction_undoes_nothing(store, written, lease, let_expire):
    with Transaction(store) as other:
        other.put("c", "theirs", {"v": 1})
    JournalEntry.objects.filter(transaction=other.id).update(transaction=written.id)
    let_expire(written)
    expired_transactions(database_now(), lease)
    row = Row.objects.get(pk=written.id)
    assert row.status == "stuck" and "another transaction wrote" in row.error
    assert store.get("c", "theirs").json == {"v": 1}


def test_every_door_shows_it_and_an_operator_decides(
    store, written, lease, let_expire, rest_as, client_as
):
    change_first(document=10**9)
    let_expire(written)
    expired_transactions(database_now(), lease)
    out = StringIO()
    call_command("transactions", "show", str(written.id), "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert told["status"] == "stuck" and "no document" in told["journal"][0]["document"]
    shown = rest_as("viewer").get(f"/api/v1/transactions/{written.id}").json()
    assert "points to no document" in shown["error"] and len(shown["journal"]) == 3
    page = client_as("viewer").get(f"/transactions/{written.id}/")
    assert page.status_code == 200 and "points to no document" in page.text
    operator_actions.complete(written.id, "the last value is right")
    assert store.get("c", "old").json == {"v": 2}
