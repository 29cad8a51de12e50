"""An ended transaction keeps the error that it was stuck with, and its buttons say what they do."""

import pytest

from allocation.transactions import Client
from allocation.transactions.models import Transaction as Row
from tests.factories.open_transactions import open_transaction

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stuck():
    txn = open_transaction(Client())
    txn.put("accounts", "ada", {"balance": 90})
    Row.objects.filter(pk=txn.id).update(status="stuck", error="Odd: no image", attempts=1)
    return txn.id


@pytest.mark.parametrize("verb", ["retry", "roll_back", "complete"])
def test_the_error_stays_when_it_is_over(stuck, verb, client_as):
    client = client_as("admin")
    client.post(f"/transactions/{stuck}/{verb}", {"reason": "it is mended"})
    row = Row.objects.get(pk=stuck)
    assert row.finished_at is not None and row.error == "Odd: no image"
    page = client.get(f"/transactions/{stuck}/").text
    assert "Error while it was stuck" in page and "Odd: no image" in page


def test_the_buttons_say_what_they_do(stuck, client_as):
    client = client_as("admin")
    page = client.get(f"/transactions/{stuck}/").text
    assert "Roll back again" in page and "Keep the changes" in page
    Row.objects.filter(pk=stuck).update(status="active")
    page = client.get(f"/transactions/{stuck}/").text
    assert ">Roll back</a>" in page and "Keep the changes" in page
