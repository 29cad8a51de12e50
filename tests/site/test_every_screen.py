"""Every screen and every raw list: nothing is taken for HTML, more rows need no more queries."""

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.site.full_site import APPS, fill, fill_texts, screens
from tests.site.many_rows import many
from tests.site.test_console_events import Elements

pytestmark = pytest.mark.django_db
EXPORTS = ["/metrics", "/api/v1/snapshot", "/api/v1/events", "/api/v1/jobs", "/api/v1/instances"]


def raw_lists():
    """Each list and the page of one of its rows."""
    for model, raw in admin.site._registry.items():
        if model._meta.app_label in APPS:
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            yield reverse(f"{name}_changelist")
            first = model.objects.first()
            if first is not None and raw.view_action:
                yield reverse(f"{name}_change", args=[first.pk])


def test_no_text_of_any_row_becomes_an_element(client_as):
    fill()
    fill_texts()
    client = client_as("admin")
    paths = [*screens().values(), *raw_lists(), "/search/?q=<b id=injected>"]
    found = {path: judged(client.get(path)) for path in paths}
    assert {path: what for path, what in found.items() if what} == {}


def judged(answer):
    """What is wrong with a page: its status, or what of the markup became an element."""
    seen = Elements(answer.text)
    wrong = [answer.status_code] if answer.status_code != 200 else []
    return wrong + seen.handlers + ["injected"] * ("injected" in seen.ids)


@pytest.mark.parametrize("path", EXPORTS)
def test_no_export_is_taken_for_html(path, client_as):
    fill()
    fill_texts()
    answer = client_as("admin").get(path)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith(("application/json", "text/plain"))
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_more_rows_need_no_more_queries_on_any_screen(client_as):
    fill()
    client = client_as("admin")
    few = {name: queries(client, path) for name, path in screens().items()}
    many(1000, queues=3)
    more = {name: queries(client, path) for name, path in screens().items()}
    assert {name: (few[name], more[name]) for name in few if more[name] > few[name]} == {}
    assert max(few.values()) <= 45


def queries(client, path):
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)
