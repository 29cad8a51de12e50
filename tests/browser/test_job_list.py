"""The list of jobs with JavaScript: a tick for all rows, and completion in the search box."""

import re

import pytest
from playwright.sync_api import expect

from queues.jobs import actions
from tests.browser.live_menu import COME_BACK
from tests.factories.jobs import make_job, make_queue, make_script

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")
OFFERED = "() => [...document.querySelector('[data-complete]').list.options].map((o) => o.value)"


@pytest.fixture
def jobs(transactional_db):
    make_script()
    queue = make_queue()
    make_queue("other queue")
    return [make_job(queue, "failed", error="E: 1") for _ in range(3)]


def test_one_box_ticks_the_page(page_as, jobs):
    page = page_as("operator")
    page.goto("/jobs/")
    whole, boxes = page.get_by_label("Select all jobs on this page"), page.locator("[name=job]")
    whole.focus()
    page.keyboard.press("Space")
    expect(page.locator("[name=job]:checked")).to_have_count(3)
    boxes.first.uncheck()
    expect(whole).not_to_be_checked()
    assert whole.evaluate("(box) => box.indeterminate")
    boxes.first.check()
    expect(whole).to_be_checked()
    page.get_by_role("button", name="Retry", exact=True).click()
    expect(page.get_by_role("heading", name="Retry 3 jobs?")).to_be_visible()


def test_without_a_script_there_is_no_box_that_does_nothing(page_as, jobs):
    page = page_as("operator", java_script_enabled=False)
    page.goto("/jobs/")
    expect(page.locator("[data-tick-all]")).to_be_hidden()
    expect(page.locator("[name=job]")).to_have_count(3)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("qu", ["queue:"]),
        ("queue:", ["queue:mail", 'queue:"other queue"', "queue:default"]),
        ('queue:"oth', ['queue:"other queue"']),
        ("queue:mail s", ["queue:mail script:", "queue:mail sticky:"]),
        ("error:no script:/m", ["error:no script:/mailer/send-mail"]),
        ('queue:"other queue" b', ['queue:"other queue" by:']),
        ("nothing", []),
    ],
)
def test_the_last_term_is_completed(typed, offered, page_as, jobs):
    page = page_as("viewer")
    page.goto("/jobs/")
    page.locator("[data-complete]").press_sequentially(typed)
    assert sorted(page.evaluate(OFFERED)) == sorted(offered)


def test_a_reason_that_is_typed_in_the_head_is_not_lost(page_as, jobs):
    job = make_job(make_queue(), due_at="2099-01-01T00:00:00Z", repeat_times=-1)
    page = page_as("operator")
    page.goto(f"/jobs/{job.pk}/")
    page.locator("#do-pause").click()
    page.get_by_placeholder("Reason (optional)").fill("holi")
    actions.pause(job.pk)
    with page.expect_response(re.compile(rf"/jobs/{job.pk}/$")):
        page.evaluate(COME_BACK)
    expect(page.get_by_text("paused", exact=True).first).to_be_visible()
    expect(page.get_by_placeholder("Reason (optional)")).to_have_value("holi")
