"""Documents, transactions and locks from the terminal."""

import json

import pytest
from django.core.management import CommandError, call_command

from allocation.transactions import Transaction
from allocation.transactions.models import Lock
from atributo_site.core.models import Event
from tests.transactions.engine.poison import poisoned

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(capsys):
    def command(*arguments):
        call_command(*map(str, arguments))
        return capsys.readouterr().out

    return command


def test_a_document_is_put_shown_listed_and_deleted(run):
    ref = run("documents", "put", "c", "k", '{"age": 31}').strip()
    assert json.loads(run("documents", "--json", "get", "c", "k")) == {
        "ref": ref,
        "value": {"age": 31},
    }
    assert ref in run("documents", "list", "c")
    assert ref in run("documents", "search", "c", "age:>30")
    run("documents", "delete", "c", "k", "--ref", ref)
    assert "(deleted)" in run("documents", "history", "c", "k")


@pytest.mark.parametrize(
    "words",
    [["documents", "list", "c"], ["transactions", "list"], ["locks", "list"]],
)
def test_json_may_stand_behind_the_verb_as_well(run, words):
    assert json.loads(run(*words, "--json")) == []


@pytest.mark.parametrize(
    "words",
    [
        ["transactions", "list", "--limit", "-1"],
        ["locks", "list", "--limit", "0"],
        ["documents", "put", "c", "k", "1", "--ref", "x", "--create-only"],
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(run, words):
    with pytest.raises(CommandError):
        run(*words)


def test_a_refusal_is_a_sentence_and_exit_code_1(run, capsys):
    with pytest.raises(SystemExit) as ended:
        run("documents", "get", "c", "none")
    assert (ended.value.code, capsys.readouterr().err.strip()) == (1, "c/none does not exist")


def test_a_value_that_is_not_json_is_a_usage_error(run):
    with pytest.raises(CommandError, match="not JSON"):
        run("documents", "put", "c", "k", "{")


def test_a_collection_is_dropped_only_when_asked_twice(run, store):
    with pytest.raises(CommandError, match="--yes"):
        run("documents", "drop", "c")
    assert "2 documents" in run("documents", "drop", "c", "--yes")


def test_transactions_are_listed_shown_and_ended(run, store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    txn.put("c", "new", 1)
    (listed,) = json.loads(run("transactions", "--json", "list"))
    assert (listed["id"], listed["status"]) == (txn.id, "active")
    shown = json.loads(run("transactions", "--json", "show", txn.id))
    assert [(entry["before_present"], entry["before"]) for entry in shown["journal"]] == [
        (True, {"v": 0}),
        (False, None),
    ]
    assert "(nothing)" in run("transactions", "show", txn.id)
    assert "2 restored" in run("transactions", "roll-back", txn.id, "--reason", "wrong")
    event = Event.objects.about(f"transaction:{txn.id}").get()
    assert (event.channel, event.facts["reason"]) == ("command", "wrong")
    assert str(txn.id) in run("transactions", "list", "--kind", "finished")


def test_a_roll_back_that_fails_is_a_sentence_and_exit_code_1(run, store, capsys):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    with poisoned("allocation_document", "NEW.key = 'old'"), pytest.raises(SystemExit) as ended:
        run("transactions", "roll-back", txn.id, "--reason", "wrong")
    assert ended.value.code == 1
    assert "the rollback failed: poisoned" in capsys.readouterr().err


def test_locks_are_listed_and_released(run, store):
    Transaction(store).put("c", "old", {"v": 1})
    (lock,) = json.loads(run("locks", "--json", "list", "--collection", "c"))
    assert (lock["document"], lock["token"]) == ("c/old", 1)
    assert "c/old" in run("locks", "list")
    run("locks", "release", lock["id"], "--reason", "holder is gone")
    assert not Lock.objects.exists()
