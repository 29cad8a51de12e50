"""A drain shows where each key went: from the instance and from its events."""

import re
from html import unescape

import pytest

from allocation.atributo import Atributo
from allocation.placement import drains
from allocation.placement.departures import destinations
from atributo_site.core.models.clock import database_now
from tests.console.page_elements import INJECTION, Elements

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def drained():
    """Drain ada, which had four keys, one of which was freed before."""
    ao = Atributo()
    ao.available("ada")
    ao.allocate_many([f"key-{number}" for number in range(4)])
    ao.deallocate("key-3")
    for name in ("grace", "alan"):
        ao.available(name)
    drains.drain("ada", deadline_seconds=0)
    for _ in range(3):
        drains.step("ada", database_now())
    return ao


def test_each_key_is_listed_with_its_destination(drained, client_as):
    page = client_as("viewer").get("/instances/ada/moves/").text
    for number in range(3):
        assert f'href="/allocations/key-{number}/"' in page
    placed = drained.instance("key-0")
    assert f'href="/instances/{placed}/"' in page and "deallocated" in page


def test_destinations_are_counted(drained):
    counts = dict(destinations("ada"))
    assert counts.pop(None) == 1
    assert sum(counts.values()) == 3 and set(counts) <= {"grace", "alan"}
    moved_on = drained.instance("key-0")
    drains.drain(moved_on, deadline_seconds=0)
    for _ in range(3):
        drains.step(moved_on, database_now())
    assert dict(destinations("ada"))[moved_on] == counts[moved_on]  # though they went on


def test_the_page_of_the_instance_and_its_events_lead_there(drained, client_as):
    client = client_as("viewer")
    page = client.get("/instances/ada/").text
    assert "Where its keys went" in page
    since = unescape(re.search(r'href="(/instances/ada/moves/\?since=[^"]+)"', page)[1])
    assert "key-0" in client.get(since).text and "key-3" not in client.get(since).text
    events = client.get("/events/?subject=instance:ada").text
    until = unescape(re.search(r'href="(/instances/ada/moves/\?until=[^"]+)"', events)[1])
    assert "key-0" in client.get(until).text


def test_a_time_filters_and_a_wrong_one_is_said(drained, client_as):
    client = client_as("viewer")
    assert "No key has left" in client.get("/instances/ada/moves/?since=2999-01-01").text
    assert client.get("/instances/ada/moves/?since=soon").status_code == 400
    assert client.get("/instances/none/moves/").status_code == 404


def test_nothing_is_taken_for_html(client_as):
    ao = Atributo()
    ao.available("ada")
    ao.allocate(INJECTION)
    ao.deallocate(INJECTION)
    page = Elements(client_as("viewer").get("/instances/ada/moves/").text)
    assert "injected" not in page.ids and page.handlers == []
