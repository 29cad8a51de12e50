"""Whose a transaction is: over REST only the caller that began it goes on with it."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

import queues
from allocation.transactions import Transaction
from allocation.transactions.models import JournalEntry, Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models import Event
from atributo_site.web import tokens
from queues.models import HeldPush

pytestmark = pytest.mark.django_db(transaction=True)
PUT = {"op": "put", "collection": "c", "key": "old", "value": {"v": "foreign"}}
WITHOUT_A_REASON = [
    ("operations", PUT),
    ("operations", {"op": "post", "collection": "c", "value": 1}),
    ("operations", {"op": "delete", "collection": "c", "key": "old"}),
    ("operations", {"op": "get", "collection": "c", "key": "old"}),
    ("operations", {"op": "get", "collection": "c", "key": "old", "shared": True, "wait": 1}),
    ("operations", {"op": "lock", "collection": "c", "key": "free"}),
    ("renew", {}),
    ("complete", {}),
    ("roll_back", {}),
]


def post(client, path, body):
    return client.post(f"/api/v1{path}", json.dumps(body), content_type="application/json")


def as_it_is(pk):
    """Everything that a foreign call could have changed."""
    row = Row.objects.values().get(pk=pk)
    return row, list(JournalEntry.objects.values()), list(Lock.objects.values())


@pytest.fixture
def owner(rest_as):
    return rest_as("operator", name="ada")


@pytest.fixture
def begun(owner, store):
    pk = post(owner, "/transactions", {"owner": "checkout"}).json()["id"]
    held = {"op": "put", "collection": "c", "key": "old", "value": {"v": 1}}
    assert post(owner, f"/transactions/{pk}/operations", held).status_code == 200
    return pk


@pytest.fixture
def others(rest_as, client_as, user_as):
    """Another operator, an administrator, another token of the owner's, and their log-in."""
    second = tokens.make_token(user_as("operator", "ada"), "another", "operate", 1)[1]
    logged_in = client_as(None)
    logged_in.force_login(user_as("operator", "ada"))
    return {
        "another operator": rest_as("operator", name="eve"),
        "an administrator": rest_as("admin"),
        "another token": _with(client_as(None), second),
        "a log-in": logged_in,
    }


def _with(client, token):
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return client


@pytest.mark.parametrize(("path", "body"), WITHOUT_A_REASON, ids=str)
def test_nobody_else_goes_on_with_a_transaction(begun, others, path, body):
    before = as_it_is(begun)
    for who, client in others.items():
        answer = post(client, f"/transactions/{begun}/{path}", body)
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign_transaction"), who
        assert answer.json()["owner"] == "ada"
    assert as_it_is(begun) == before


@pytest.mark.parametrize("path", ["complete", "roll_back"])
def test_an_operator_ends_no_transaction_of_others_even_with_a_reason(begun, others, path):
    before = as_it_is(begun)
    body = {"reason": "I want to"}
    answer = post(others["another operator"], f"/transactions/{begun}/{path}", body)
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_transaction")
    assert as_it_is(begun) == before


@pytest.mark.parametrize("path", ["complete", "roll_back"])
def test_an_administrator_ends_it_with_a_reason_and_an_event(begun, others, path):
    answer = post(others["an administrator"], f"/transactions/{begun}/{path}", {"reason": "dead"})
    assert answer.json()["status"] == {"complete": "completed", "roll_back": "rolled_back"}[path]
    event = Event.objects.about(f"transaction:{begun}").newest_first()[0]
    assert (event.actor, event.channel, event.facts["reason"]) == ("admin", "rest", "dead")


def test_only_an_administrator_frees_its_locks(begun, others):
    pk = Lock.objects.get().pk
    body = {"reason": "stale"}
    assert post(others["another operator"], f"/locks/{pk}/release", body).status_code == 403
    assert Lock.objects.count() == 1
    assert post(others["an administrator"], f"/locks/{pk}/release", {}).status_code == 400
    assert post(others["an administrator"], f"/locks/{pk}/release", body).status_code == 204
    assert Event.objects.get(kind="lock.released").actor == "admin"


@pytest.mark.parametrize("verb", ["roll_back", "complete"])
def test_the_screens_ask_an_administrator_for_a_reason(begun, client_as, verb):
    url = f"/transactions/{begun}/{verb}"
    assert client_as("operator").post(url, {"reason": "mine"}).status_code == 403
    assert client_as("admin").post(url, {"reason": ""}).status_code == 400
    assert Row.objects.get(pk=begun).status == "active"
    client_as("admin").post(url, {"reason": "dead"})
    event = Event.objects.about(f"transaction:{begun}").newest_first()[0]
    assert (event.actor, event.channel, event.facts["reason"]) == ("admin", "browser", "dead")


def test_a_command_needs_a_reason_and_is_an_event(begun):
    call_command("transactions", "roll-back", str(begun), "--reason", "dead", stdout=StringIO())
    event = Event.objects.about(f"transaction:{begun}").newest_first()[0]
    assert (event.channel, event.facts["reason"]) == ("command", "dead")


def test_nobody_pushes_into_a_transaction_of_others(begun, owner, others):
    queues.create("q")
    body = {"script": {"mount": "/none", "name": "none"}, "transaction": begun}
    answer = post(others["another operator"], "/queues/q/jobs", body)
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_transaction")
    assert not HeldPush.objects.exists()
    assert post(owner, "/queues/q/jobs", body).status_code == 201
    assert HeldPush.objects.get().transaction == begun


def test_the_transaction_of_a_program_belongs_to_nobody_over_rest(store, owner):
    txn = Transaction(store, owner="ada")
    answer = post(owner, f"/transactions/{txn.id}/operations", PUT)
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_transaction")
    txn.put("c", "old", {"v": 2})
    Transaction.attach(txn.id).complete()
    assert store.get("c", "old").json == {"v": 2}


@pytest.mark.parametrize("member", ["label", "owner"])
def test_the_owner_is_who_began_it_whatever_the_caller_says(rest_as, member):
    begun = post(rest_as("operator", name="eve"), "/transactions", {member: "ada"}).json()
    assert (begun["owner"], begun["label"], begun["channel"]) == ("eve", "ada", "rest")


def test_a_log_in_goes_on_with_its_own(client_as):
    client = client_as("operator")
    pk = post(client, "/transactions", {}).json()["id"]
    assert post(client, f"/transactions/{pk}/complete", {}).json()["status"] == "completed"


def test_the_owner_may_give_a_reason(begun, owner):
    answer = post(owner, f"/transactions/{begun}/roll_back", {"reason": "changed my mind"})
    assert (answer.json()["status"], answer.json()["reason"]) == (
        "rolled_back",
        "changed my mind",
    )


def test_another_token_of_the_same_user_gets_no_remembered_answer(owner, others, store):
    key = {"Idempotency-Key": "once"}
    first = owner.post("/api/v1/transactions", "{}", "application/json", headers=key)
    again = owner.post("/api/v1/transactions", "{}", "application/json", headers=key)
    assert again.json()["id"] == first.json()["id"]
    other = others["another token"].post(
        "/api/v1/transactions", "{}", "application/json", headers=key
    )
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
