"""A PostgreSQL standby, which answers and refuses to write, is called read-only, not broken."""

import pytest
from django.db import connection

from atributo_site.core.events import record
from atributo_site.core.loops import Loop, Step

pytestmark = [pytest.mark.only_on("postgresql"), pytest.mark.django_db(transaction=True)]


@pytest.fixture
def standby(client_as):
    """Log somebody in and make the database read-only afterwards."""
    client = client_as("admin")
    client.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    yield client
    connection.close()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/queues", {"name": "mail"}),
        ("/api/v1/instances", {"id": "web-1"}),
        ("/api/v1/collections/users", {"age": 36}),
        ("/api/v1/transactions", {}),
    ],
)
def test_a_write_is_refused_for_the_time_being(standby, path, body):
    answer = standby.post(path, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (503, "read_only")
    assert answer["Retry-After"] == "1"
    again = standby.post(path, body, content_type="application/json")  # over a new connection
    assert again.status_code < 300


def test_a_form_is_refused_for_the_time_being(standby):
    answer = standby.post("/queues/", {"name": "mail", "max_workers": 1})
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert standby.get("/queues/").status_code == 200


def test_a_loop_goes_on_where_it_can_write(standby):
    loop = Loop([Step("write", lambda now: float(record("test.kind", "test:1").pk))])
    loop.run_due()
    assert loop.steps[0].failures == 1
    loop.steps[0].due = 0.0
    loop.run_due()
    assert loop.steps[0].failures == 0
