"""The form made from a schema in a real Chromium: its inputs, its groups, on a desk and a phone."""

import pytest
from playwright.sync_api import expect

from queues.models import QueuedJob
from tests.factories.jobs import make_queue, make_script
from tests.factories.schemas import DATA, ORDER

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")
URL = "/services/mailer/-/scripts/send-mail/"
SIZES = [(1440, 900), (390, 844)]
OUTSIDE = """() => [...document.querySelectorAll("main form :is(input, select, fieldset, legend)")]
    .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map((each) => each.name || each.className)
"""


@pytest.fixture
def opened(page_as, transactional_db):
    """opened(width, height) → the page of a script whose schema has every kind of member."""
    make_script(schema={**ORDER, "required": ["when", "way", "to"]})
    make_queue()

    def page(width, height, **options):
        shown = page_as("operator", viewport={"width": width, "height": height}, **options)
        shown.goto(URL)
        return shown

    return page


def fill(page):
    page.get_by_label("when").fill("2026-01-31")
    page.get_by_label("mail").fill("ada@example.org")
    page.get_by_label("copies").fill("2")
    page.get_by_label("weight").fill("1.25")
    page.get_by_label("way").select_option(label="By sea")
    page.get_by_label("size").select_option(label="null")
    address = page.get_by_role("group", name="Address")
    address.get_by_label("street").fill("Main Street 1")
    address.get_by_label("since").fill("1999-12-31")
    address.get_by_label("at/home").check()
    address.get_by_role("group", name="place").get_by_label("x", exact=True).fill("7.5")


@pytest.mark.parametrize("has_scripts", [True, False])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_field_is_filled_in_and_pushed(opened, width, height, has_scripts):
    page = opened(width, height, java_script_enabled=has_scripts)
    fill(page)
    page.get_by_text("Queue and push options").click()
    page.get_by_label("Queue", exact=True).fill("mail")
    page.get_by_role("button", name="Push to queue").click()
    expect(page.get_by_text("Pushed to mail.")).to_be_visible()
    assert QueuedJob.objects.get().data == DATA


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_no_field_leaves_the_page(opened, width, height):
    page = opened(width, height)
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_browser_keeps_what_is_wrong_from_being_sent(opened):
    page = opened(*SIZES[0])
    fill(page)
    wrong = {"mail": "ada", "copies": "10", "weight": "0.3", "street": ""}
    for label, text in wrong.items():
        field = page.get_by_label(label)
        before = field.input_value()
        field.fill(text)
        page.get_by_role("button", name="Run now").click()
        assert not field.evaluate("each => each.validity.valid")
        field.fill(before)
    assert page.locator("form:has([name=data-when])").evaluate("each => each.checkValidity()")
    assert not QueuedJob.objects.exists()


def test_a_day_is_picked_and_written_as_text(opened):
    page = opened(1440, 900)
    page.get_by_text("Start time, time limit").click()
    picker = page.get_by_role("button", name="Pick a date for Start at")
    expect(picker).to_be_visible()
    picker.locator("xpath=preceding-sibling::input").evaluate(
        "each => { each.value = '2030-01-31T12:00'; each.dispatchEvent(new Event('change')); }"
    )
    expect(page.get_by_label("Start at").first).to_have_value("2030-01-31 12:00")
