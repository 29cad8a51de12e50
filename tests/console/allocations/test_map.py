"""The map of allocations and its what-if."""

import re

import pytest

from allocation.atributo import Atributo

pytestmark = pytest.mark.django_db


@pytest.fixture
def three():
    ao = Atributo()
    for name in ("a", "b", "c"):
        ao.available(name, capacity=20)
    ao.allocate_many([f"job{number}" for number in range(30)])
    ao.unavailable("c")


def test_every_instance_is_a_cell_that_says_how_full_it_is(three, client_as):
    page = client_as("viewer").get("/allocations/-/map/").text
    assert page.count('href="/instances/') >= 3
    assert "of 20, unavailable" in page


def test_a_cell_leads_to_its_instance_however_that_is_called(three, client_as):
    Atributo().available("a/b <i>&?#%2F")
    client = client_as("viewer")
    page = client.get("/allocations/-/map/").text
    paths = re.findall(r'class="heat-[^"]*" href="([^"]+)"', page)
    assert paths[1] == "/instances/a%1Fb%20%3Ci%3E%26%3F%23%252F/"
    assert [client.get(path).status_code for path in paths] == [200] * 4


def test_what_if_changes_nothing_and_says_what_would_move(three, client_as):
    client, ao = client_as("viewer"), Atributo()
    page = client.get("/allocations/-/map/", {"remove": "a"}).text
    assert "keys would move" in page
    assert "A rebalance would move" in client.get("/allocations/-/map/", {"add": 2}).text
    assert (
        "These instances do not accept"
        in client.get("/allocations/-/map/", {"remove": "nobody"}).text
    )
    assert [row["available"] for row in ao.instances()] == [True, True, False]


def test_the_search_box_finds_instances_and_jobs_by_how_they_begin(three, client_as):
    client = client_as("viewer")
    page = client.get("/search/", {"q": "job2"}).text
    assert 'href="/allocations/job2/"' in page
    assert 'href="/allocations/job28/"' in page
    assert client.get("/search/", {"q": "a"}).text.count('href="/instances/a/"') == 1
