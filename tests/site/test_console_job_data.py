"""The list of jobs shows what each was given, without secrets."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atributo_site.console.job_data import LONG, beginnings
from tests.site.job_rows import make_job, make_queue, make_script

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
    job = make_job(make_queue(), data=data)
    assert beginnings([job]) == {job.pk: text}


def test_it_costs_no_more_for_many_and_nothing_when_it_is_not_asked_for(client_as):
    make_script()
    queue, client = make_queue(), client_as("viewer")

    def queries(columns):
        with CaptureQueriesContext(connection) as asked:
            client.get("/jobs/", {"columns": columns})
        return len(asked)

    make_job(queue, data={"to": "ada"})
    queries("data")
    one = queries("data")
    for _ in range(9):
        make_job(queue, data={"to": "ada"})
    assert (queries("data"), queries("queue")) == (one, one - 2)
