"""The list of jobs shows the data of each without secrets."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atributo_site.console.jobs.list import LONG, beginning, with_beginnings
from queues.models import QueuedJob
from tests.factories.jobs import make_job, make_queue, make_script

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"n": 12345678901234567890, "to": "ada"}, "n: 12345678901234567890, to: ada"),
        ([6, 7], "[6, 7]"),
        ({"to": "bob", "password": "canary"}, "to: bob, password: •••"),
        ({"pin": "canary"}, "pin: •••"),
        ({"text": "x" * 100}, f"text: {'x' * 73}…"),
        ({"text": "x" * 3000}, LONG),
        ({"deep": {"list": [1, "ä"]}}, 'deep: {"list": [1, "ä"]}'),
        (None, ""),
        ("", ""),
    ],
)
def test_it_is_short_exact_and_without_secrets(data, text):
    make_script(schema={"properties": {"pin": {"x-secret": True}}})
    make_job(make_queue(), data=data)
    job = with_beginnings(QueuedJob.objects.defer("data")).get()
    assert beginning(job) == text


def test_it_costs_no_query_more(client_as, django_assert_num_queries):
    client = client_as("viewer")
    make_job(make_queue(), data={"to": "ada"})
    client.get("/jobs/")
    with CaptureQueriesContext(connection) as without:
        client.get("/jobs/", {"columns": "queue"})
    with django_assert_num_queries(len(without)):
        page = client.get("/jobs/", {"columns": ["queue", "data"]})
    assert ">to: ada<" in page.text
