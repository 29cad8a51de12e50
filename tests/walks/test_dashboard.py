"""Walk 5: the first page costs the same number of queries whatever the number of rows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import expect

import queues
from allocation.atributo import Atributo
from allocation.transactions import Client, Transaction

pytestmark = pytest.mark.django_db(transaction=True)


def queries_of(client):
    client.get("/")  # what is looked up once per process is known by now
    with CaptureQueriesContext(connection) as captured:
        assert client.get("/").status_code == 200
    return len(captured)


def fill(number):
    ao = Atributo()
    for n in range(number):
        ao.available(f"web-{n}")
        Transaction(Client()).put("c", f"key-{number}-{n}", {"v": n})
        queues.create(f"queue-{n}", max_workers=1)
    ao.allocate_many([f"job-{n}" for n in range(number * 10)])
    queues.get("queue-0").push_many({"mount": "/m", "name": "s"}, list(range(number * 10)))


def test_the_dashboard_asks_a_constant_number_of_questions(client_as, page_as):
    client = client_as("viewer")
    fill(2)
    few = queries_of(client)
    fill(20)
    assert queries_of(client) == few
    page = page_as("viewer")
    page.goto("/")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.get_by_text("No curator is active")).to_be_visible()
