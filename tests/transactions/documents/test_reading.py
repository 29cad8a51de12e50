"""What a transaction reads: missing keys, lists and searches with its own writes."""

import pytest

from allocation.transactions import (
    CollectionKeyIsLocked,
    DocumentNotFound,
    InvalidDocument,
    JobIsCompleted,
    RollbackCausedByException,
    Transaction,
)
from allocation.transactions.models import Lock, LockWait
from allocation.transactions.store import lock_waits
from allocation.transactions.store.keys import Key

pytestmark = pytest.mark.django_db(transaction=True)


def keys(pages):
    return [row["path"]["key"] for row in pages.all()]


def test_reading_a_missing_key_leaves_the_transaction_as_it_is(store):
    with Transaction(store) as txn:
        txn.put("c", "old", {"v": 1})
        with pytest.raises(DocumentNotFound):
            txn.get("c", "none")
        with pytest.raises(DocumentNotFound):
            txn.get("c", "old", ref="ab" * 8)
        txn.put("c", "none", {"v": 1}, ref=False)
    assert [store.get("c", key).json for key in ("old", "none")] == [{"v": 1}, {"v": 1}]


def test_a_missing_key_that_was_read_stays_missing_for_all_others(store):
    txn = Transaction(store)
    with pytest.raises(DocumentNotFound):
        txn.get("c", "none", shared=True)
    assert Lock.objects.on("c", "none").get().mode == "shared"
    with pytest.raises(CollectionKeyIsLocked):
        store.put("c", "none", {"v": 1})
    with pytest.raises(RollbackCausedByException):
        Transaction(store).put("c", "none", {"v": 1})
    txn.complete()
    assert store.put("c", "none", {"v": 1}).ok


@pytest.fixture
def operate(rest_as):
    """operate(op="get", ...) in a transaction that is held over REST."""
    rest = rest_as("operator")
    json = {"content_type": "application/json"}
    pk = rest.post("/api/v1/transactions", {}, **json).json()["id"]
    return lambda **wanted: rest.post(f"/api/v1/transactions/{pk}/operations", wanted, **json)


def test_over_rest_a_missing_key_is_404_and_the_transaction_goes_on(store, operate):
    missing = operate(op="get", collection="c", key="none")
    assert (missing.status_code, missing.json()["code"]) == (404, "document_not_found")
    assert operate(op="put", collection="c", key="none", value=1).status_code == 200
    listed = operate(op="list", collection="c").json()["value"]
    assert [row["path"]["key"] for row in listed["results"]] == ["doomed", "none", "old"]
    page = operate(op="search", collection="c", query="v:0", limit=1).json()["value"]
    assert (page["count"], page["next"]) == (1, 1)
    assert operate(op="search", collection="c", key="none").status_code == 400
    assert operate(op="list", collection="c", query="v:0").status_code == 400


def test_a_list_has_what_is_committed_and_what_the_transaction_wrote(people):
    mine, theirs = Transaction(people), Transaction(people)
    mine.put("people", "new", {"age": 1})
    mine.delete("people", "bob")
    theirs.put("people", "foreign", {"age": 1})
    theirs.delete("people", "zoe")
    assert keys(mine.list("people", limit=2)) == ["ada", "eve", "new", "zoe"]
    assert keys(people.list("people")) == ["ada", "bob", "eve", "zoe"]


def test_a_search_finds_the_own_values_and_the_committed_ones_of_others(people):
    mine, theirs = Transaction(people), Transaction(people)
    new = mine.put("people", "ada", {"age": 99}).ref
    theirs.put("people", "bob", {"age": 98})
    found = mine.search("people", "age:>=20", sort="age:desc").all()
    assert [(row["path"]["key"], row["value"]["age"]) for row in found] == [
        ("ada", 99),
        ("zoe", 50),
        ("bob", 20),
    ]
    assert found[0]["path"]["ref"] == new
    assert Lock.objects.filter(transaction=mine.id).count() == 1


def test_a_bad_query_is_refused_and_the_transaction_goes_on(people):
    with Transaction(people) as txn:
        with pytest.raises(InvalidDocument):
            txn.search("people", "(age:1").all()
        txn.put("people", "ada", {"age": 1})
    for read in (txn.list, txn.search):
        with pytest.raises(JobIsCompleted):
            read("people")


def test_who_may_wait_does_not_pass_those_that_wait(store, let_expire):
    """Or who changes a key again and again keeps it from all that sleep."""
    waiter, newcomer = Transaction(store), Transaction(store)
    place = Key("c", "old")
    lock_waits._announce(waiter.id, place, "exclusive")
    assert lock_waits._passes_others(newcomer.id, place, "exclusive")
    assert lock_waits._passes_others(newcomer.id, place, "shared")
    line = lock_waits.Line(lock_waits._announce(newcomer.id, place, "exclusive"), newcomer.id, "x")
    line.look()
    assert (line.ahead, line.is_my_turn) == (1, False)
    LockWait.objects.filter(transaction=waiter.id).delete()
    line.look()
    assert (line.ahead, line.is_my_turn) == (0, True)


def test_a_wait_looks_by_one_statement_that_writes_nothing(store, django_assert_num_queries):
    holder, waiter = Transaction(store), Transaction(store)
    holder.put("c", "old", {"v": 1})
    wait = lock_waits._announce(waiter.id, Key("c", "old"), "exclusive")
    line = lock_waits.Line(wait, waiter.id, "exclusive")
    line.look()  # PostgreSQL prepares the statement
    with django_assert_num_queries(1) as asked:
        line.look()
    assert not line.is_my_turn
    assert not {"INSERT", "UPDATE", "DELETE"} & set(asked.captured_queries[0]["sql"].split())
