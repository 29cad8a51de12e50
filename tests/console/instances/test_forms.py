"""What an operator types on an instance's page: spans of time, weight and capacity."""

import pytest

from allocation.atributo import Atributo
from allocation.models import Instance
from atributo_site.console.instances.forms import DrainForm

pytestmark = pytest.mark.django_db
SETTINGS = "/instances/web-1/settings"


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [("90", 5400), ("0.5", 30), ("45m", 2700), ("1h30m", 5400), ("1d 2h", 93_600), ("", None)],
)
def test_a_deadline_is_minutes_or_a_span(typed, seconds):
    form = DrainForm({"deadline_minutes": typed})
    assert form.is_valid() and form.deadline_seconds == seconds


@pytest.mark.parametrize("typed", ["soon", "1h30", "-5", "-1h", "h", "999999d", "٣h", "nan", "1e9"])
def test_what_is_no_deadline_is_refused(typed):
    assert "deadline_minutes" in DrainForm({"deadline_minutes": typed}).errors


@pytest.fixture
def instance():
    Atributo().available("web-1", capacity=4)
    return Instance.objects.get()


def test_weight_and_capacity_are_set_on_the_page(instance, client_as):
    form = {"weight": "3", "capacity": "", "epoch": instance.epoch}
    page = client_as("operator").post(SETTINGS, form, follow=True)
    assert "Weight and capacity are saved" in page.text
    row = Instance.objects.get()
    assert (row.weight, row.capacity, row.available) == (3, None, True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"weight": "0"}, "Weight: "), ({"capacity": "-1"}, "Capacity: "), ({"epoch": "0"}, "epoch")],
)
def test_settings_that_cannot_be_are_refused_in_words(wrong, said, instance, client_as):
    form = {"weight": "3", "capacity": "9", "epoch": instance.epoch, **wrong}
    page = client_as("operator").post(SETTINGS, form, follow=True)
    assert said in page.text.partition('class="messages"')[2].partition("</ul>")[0]
    assert Instance.objects.get().weight == 1
