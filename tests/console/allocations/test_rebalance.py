"""A rebalance asks before it moves anything, with the plan above the button."""

import pytest

from allocation.atributo import Atributo
from allocation.placement import rebalance

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/allocations/-/rebalance/"


@pytest.fixture
def uneven():
    ao = Atributo()
    ao.available("ada")
    ao.allocate_many([f"key-{number}" for number in range(40)])
    ao.available("grace")


def test_nothing_moves_until_somebody_is_sure(uneven, client_as):
    client = client_as("operator")
    page = client.post(PATH, {"moves_per_minute": "30"})
    assert page.status_code == 200 and rebalance.last() is None
    assert "At 30 moves per minute that takes about" in page.text
    assert page.text.index("What would move") < page.text.index("Move the keys")
    client.post(PATH, {"moves_per_minute": "30", "sure": "yes"})
    assert rebalance.last().is_running


def test_the_plan_is_above_the_button(uneven, client_as):
    page = client_as("operator").get(PATH).text
    assert page.index("What would move") < page.index("Rebalance …")
    assert "Rebalance …" not in client_as("viewer").get(PATH).text


@pytest.mark.parametrize("pace", ["", "0", "many"])
def test_a_wrong_pace_is_said(pace, uneven, client_as):
    answer = client_as("operator").post(PATH, {"moves_per_minute": pace}, follow=True)
    assert 'class="message' in answer.text or "is-bad" in answer.text
    assert rebalance.last() is None
