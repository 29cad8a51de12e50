"""Every door that changes something leaves an event: who, through which door, what."""

import json

import pytest

from allocation.leases import HeldLease
from allocation.models import Event
from allocation.transactions import Client, Transaction
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from pools.models import Backend, Pool
from tests.site.every_url import every_url
from tests.union.audited_rest import KEPT, NOTHING, REST

CHANGES = {"POST", "PUT", "PATCH", "DELETE"}


@pytest.fixture
def ground(probe, scripts_start_quickly):
    """What no request of the walk can make: a stuck transaction and a curator that is active."""
    txn = Transaction(Client())
    txn.put("stuck", "k", 1)
    Row.objects.filter(pk=txn.id).update(status="stuck")
    HeldLease.take("curator", "host:1", 3600, name="first")
    return {"stuck": txn.id}


def of_others(words, name):
    """Rows that a process of its own would have made by now."""
    if name == "api-pool-backend":
        pool = Pool.objects.get(name="web")
        facts = {"address": "10.0.0.1", "port": 80, "instance_id": "web-1"}
        Backend.objects.create(pool=pool, key="10.0.0.1:80", **facts)
    if name == "api-lock-release":
        words["lock"] = Lock.objects.get(transaction=words["txn"]).pk


def test_every_method_of_the_rest_api_is_in_the_table():
    doors = {
        (method, url.name)
        for url in every_url()
        if url.kind == "rest"
        for method in CHANGES & set(url.actions)
    }
    assert doors == {(method, name) for method, name, *_ in REST}


def test_every_change_over_rest_names_the_caller(ground, rest_as):
    rest, words, missing = rest_as("admin", name="ada"), dict(ground), []
    for method, name, path, body, kind in REST:
        of_others(words, name)
        last = Event.objects.order_by("pk").values_list("pk", flat=True).last() or 0
        text = "" if body is None else json.dumps(body)
        answer = rest.generic(method, f"/api/v1{path.format(**words)}", text, "application/json")
        assert answer.status_code < 300 or kind in (NOTHING, "script.failed"), answer.text
        new = Event.objects.filter(pk__gt=last, actor="ada", channel="rest")
        if kind is not NOTHING and not new.filter(kind=kind).exists():
            missing.append((method, path, kind, list(new.values_list("kind", flat=True))))
        if name in KEPT:
            words[KEPT[name][0]] = answer.json()[KEPT[name][1]]
    assert missing == []
