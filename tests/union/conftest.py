"""What tests of several rooms share with the tests of one, and the bank: scripts that roll back."""

import pytest

import queues
from allocation.transactions import Client
from queues import installation
from tests.queues.conftest import *  # noqa: F403

TRANSFER = {"mount": "/bank", "name": "transfer"}
OPENING = {"owner": "ada", "balance": 1000, "transfers": 0}


class Bank:
    """The accounts as anybody sees them who does not ignore locks."""

    script = TRANSFER

    def __init__(self, queue):
        self.queue = queue
        self.client = Client()
        for name in ("ada", "grace"):
            self.client.put("bank_accounts", name, {**OPENING, "owner": name})

    def order(self, **changes):
        return {"from": "ada", "to": "grace", "amount": 10, "pause_ms": 0, **changes}

    def push(self, *, order=None, **options):
        return self.queue.get(self.queue.push(TRANSFER, order or self.order(), **options))

    def balances(self):
        """Committed values only: a key that is held raises."""
        return [self.client.get("bank_accounts", name)["balance"] for name in ("ada", "grace")]

    def receipts(self):
        return self.client.list("bank_receipts").all()


@pytest.fixture
def bank(service_roots, transactional_db):
    installation.install("bank", "/bank", setup=False)
    return Bank(queues.create("money", max_workers=1))
