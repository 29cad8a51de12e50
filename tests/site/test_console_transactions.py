"""The screens of transactions, locks and curators."""

import pytest

from allocation.transactions import Client, Transaction

pytestmark = pytest.mark.django_db(transaction=True)

PATHS = [
    "/transactions/",
    "/transactions/stuck/",
    "/transactions/locks/",
    "/transactions/history/",
    "/transactions/curators/",
    "/documents/",
    "/documents/accounts/",
    "/documents/accounts/ada/",
]


@pytest.fixture
def accounts():
    client = Client()
    client.put("accounts", "ada", {"balance": 120}).raise_for_status()
    return client


@pytest.fixture
def txn(accounts):
    txn = Transaction(accounts, owner="vera")
    txn.put("accounts", "ada", {"balance": 90})
    return txn


@pytest.mark.parametrize("path", PATHS)
def test_a_viewer_sees_everything_and_no_button(path, txn, client_as):
    answer = client_as("viewer").get(path)
    assert answer.status_code == 200
    assert "Release" not in answer.text
