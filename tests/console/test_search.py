"""The search finds only pages that exist."""

import re
from html import unescape

import pytest

from allocation.atributo import Atributo
from atributo_site.core.events import Actor, acting, record

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(client_as):
    with Atributo() as ao, acting(Actor("grace", "browser")):
        ao.available("barbara")
    record("job.failed", "job:7")
    return client_as("viewer")


def hits(client, text):
    """Return the addresses that a search leads to."""
    page = client.get("/search/", {"q": text}).text
    listed = page.partition('<ul class="hits')[2].partition("</ul>")[0]
    return [unescape(found) for found in re.findall(r'<a href="([^"]+)"', listed)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("barbara", ["/instances/barbara/", "/events/?subject=instance%3Abarbara"]),
        ("instance:barbara", ["/instances/barbara/", "/events/?subject=instance%3Abarbara"]),
        ("grace", ["/events/?actor=grace"]),
        ("job.failed", ["/events/?kind=job.failed"]),
        ("zzzz<b>", []),
    ],
)
def test_a_name_finds_what_there_is_and_nothing_else(client, text, found):
    assert hits(client, text) == found


@pytest.mark.parametrize("text", ["barbara", "grace", "job.failed"])
def test_no_hit_leads_to_an_empty_list(client, text):
    assert all("No events match" not in client.get(url).text for url in hits(client, text))


def test_nothing_found_is_said(client):
    assert "No results" in client.get("/search/?q=zzzz").text
