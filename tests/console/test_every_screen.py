"""Every screen and raw list escapes texts, and more rows need no more queries."""

import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

import atributo_site.urls  # noqa: F401 – it registers the lists
from tests.console.addresses import addresses, raw_lists
from tests.console.full_site import fill, fill_texts, screens
from tests.console.many_rows import many
from tests.console.page_elements import Elements

admin.autodiscover()
pytestmark = pytest.mark.django_db
NAME = "bench"  # the addresses contain it
EXPORTS = ["/metrics", "/api/v1/snapshot", "/api/v1/events", "/api/v1/jobs", "/api/v1/instances"]


@pytest.mark.only_on("sqlite")  # templates escape, whatever the database
def test_no_text_becomes_an_element_and_every_screen_names_its_command(client_as):
    fill()
    fill_texts()
    client = client_as("admin")
    paths = [*screens().values(), *raw_lists().values(), "/search/?q=<b id=injected>"]
    answers = {path: client.get(path) for path in paths}
    found = {path: judged(answer) for path, answer in answers.items()}
    assert {path: what for path, what in found.items() if what} == {}
    how = "The same from a terminal"
    assert [path for path in screens().values() if how not in answers[path].text] == []


def judged(answer):
    """Return what is wrong with a page: its status, or markup that became an element."""
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


@pytest.mark.parametrize("half", range(2))
def test_addresses_ask_as_many_queries_of_many_rows_as_of_few(half, client_as):
    """Check a quarter of the addresses each time, half on each database."""
    quarter = 2 * half + (connection.vendor == "sqlite")
    compare(client_as("admin"), lambda name: len(name) % 4 == quarter)


@pytest.mark.soak
def test_every_address_asks_as_many_queries_of_many_rows_as_of_few(client_as):
    compare(client_as("admin"), lambda name: True)


def compare(client, chosen):
    fill(NAME)
    ContentType.objects.get_for_models(*admin.site._registry)  # are read once,
    client.get(screens(NAME)["allocation"])  # and so is the cache of instances
    for name in ("overview", "documents"):  # and some statements are prepared once
        client.get(screens(NAME)[name])
    few = asked(client, chosen)
    many(600, queues=2)
    client.get(screens(NAME)["allocation"])  # which has other instances now
    more = asked(client, chosen)
    assert {name: (few[name], more[name]) for name in few if more[name] != few[name]} == {}
    assert max(few.values()) <= 55


def asked(client, chosen):
    found = {name: path for name, path in addresses(NAME).items() if chosen(name)}
    return {name: queries(client, path) for name, path in found.items()}


def queries(client, path):
    cache.clear()
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)
