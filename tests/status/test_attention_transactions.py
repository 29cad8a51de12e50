"""The dashboard and the metrics report transactions."""

import pytest

from allocation.transactions import Client
from allocation.transactions.models import Transaction as Row
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from atributo_site.status.metrics import exposition
from atributo_site.status.snapshot import attention, snapshot
from tests.factories.open_transactions import open_transaction

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def healthy():
    """Return the snapshot of a site that needs no attention, to be changed."""
    HeldLease.take("worker/w1", "host:1", 600)
    HeldLease.take("curator", "host:1", 600, name="first")
    taken = snapshot(database_now())
    assert taken["attention"] == []
    return taken


def found(taken, **facts):
    state = {**taken, "transactions": {**taken["transactions"], **facts}}
    return [(item["level"], item["title"], item["screen"]) for item in attention(state)]


def test_a_stuck_transaction_needs_attention(healthy):
    stuck = ("error", "1 transaction is stuck", "/transactions/stuck/")
    assert found(healthy, stuck=1) == [stuck]
    assert found(healthy, stuck=2)[0][1] == "2 transactions are stuck"


def test_an_overdue_transaction_needs_attention_when_nobody_curates(healthy):
    assert found(healthy, overdue=1) == []
    alone = {**healthy, "curator": {**healthy["curator"], "active": None}}
    titles = [title for _, title, _ in found(alone, overdue=1)]
    assert titles == ["No curator is active", "1 transaction is overdue"]


def test_an_orphaned_lock_needs_attention(healthy):
    txn = open_transaction(Client())
    txn.lock("accounts", "ada")
    Row.objects.filter(pk=txn.id).update(status="completed", finished_at=database_now())
    titles = [item["title"] for item in snapshot(database_now())["attention"]]
    assert titles == ["1 lock outlived the transaction"]


def test_the_dashboard_leads_to_what_is_stuck(healthy, client_as):
    txn = open_transaction(Client())
    Row.objects.filter(pk=txn.id).update(status="stuck")
    page = client_as("viewer").get("/").text
    assert '<a href="/transactions/stuck/">1 transaction is stuck</a>' in page


def test_metrics_tell_transactions_and_locks(healthy):
    open_transaction(Client()).lock("accounts", "ada")
    lines = exposition(snapshot(database_now())).decode().splitlines()
    assert 'atributo_transactions{status="active"} 1.0' in lines
    assert 'atributo_transactions{status="stuck"} 0.0' in lines
    assert "atributo_locks 1.0" in lines
    assert "atributo_locks_orphaned 0.0" in lines
    assert "atributo_lock_waits 0.0" in lines
    assert any(line.startswith("atributo_transaction_oldest_seconds ") for line in lines)
