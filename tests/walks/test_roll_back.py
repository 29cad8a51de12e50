"""Walk 3: a process dies in a transaction; the curator undoes it; the late writer is refused."""

import pytest
from playwright.sync_api import expect

from allocation.transactions import Client, Transaction
from allocation.transactions.errors import JobIsTimedOut
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from tests.transactions.engine.children import child
from tests.transactions.engine.crashes import expire_everything

pytestmark = pytest.mark.django_db(transaction=True)


def half_done(process):
    """Two writes, then silence."""
    txn = Transaction(Client())
    txn.put("accounts", "ann", {"balance": 0})
    txn.put("accounts", "bob", {"balance": 200})
    process.tell(txn.id)
    process.told()


def balance(key):
    return Client().get("accounts", key).json["balance"]


def test_a_dead_transfer_is_undone(page_as, spawn, wait_until):
    for key in ("ann", "bob"):
        Client().put("accounts", key, {"balance": 100}).raise_for_status()
    with child(half_done) as process:
        number = process.told()
        process.kill()
    late = Transaction(Client())
    late.put("accounts", "cas", {"balance": 1})
    expire_everything()
    spawn("run_curator", "--name", "healer")
    undone = Row.objects.filter(pk__in=[number, late.id], status="rolled_back")
    wait_until(lambda: undone.count() == 2)
    assert (balance("ann"), balance("bob"), Lock.objects.count()) == (100, 100, 0)
    with pytest.raises(JobIsTimedOut):
        late.put("accounts", "cas", {"balance": 2})
    assert Client().get("accounts", "cas").status_code == 404

    page = page_as("viewer")
    page.goto(f"/transactions/{number}/")
    expect(page.get_by_text("these changes were rolled back")).to_be_visible()
    expect(page.get_by_text("restored").first).to_be_visible()
