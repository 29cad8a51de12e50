"""An open list of jobs shows how each of them ends, by hints alone."""

import pytest
from playwright.sync_api import expect

import queues
from tests.browser.live_menu import WITHOUT_CLOCK, WORD

pytestmark = pytest.mark.django_db(transaction=True)
ON_A_PAGE = 50


def test_every_end_is_on_the_open_list_without_a_reload(live_page, act, worker):
    shown = queues.create("shown", max_workers=4)
    live_page.add_init_script(WITHOUT_CLOCK)
    live_page.goto("/jobs/?q=queue:shown")
    expect(live_page.locator(WORD)).to_have_text("Live")
    worker("north")
    for _ in range(2):
        pushed = shown.push_many(act, [{}] * ON_A_PAGE)
        for job_id in pushed:
            row = live_page.locator("#jobs tr", has_text=str(job_id))
            expect(row).to_contain_text("complete")
