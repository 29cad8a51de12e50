"""The search box in a real Chromium: results while one types, by keyboard alone."""

import re

import pytest
from playwright.sync_api import expect

from tests.factories.jobs import make_queue, make_script

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")


@pytest.fixture
def page(page_as, transactional_db):
    make_script()
    make_queue("outgoing-mail")
    page = page_as("viewer")
    page.goto("/")
    return page


def test_results_appear_while_one_types_and_open_by_keyboard(page):
    page.keyboard.press("/")
    box = page.get_by_label("Search", exact=True)
    expect(box).to_be_focused()
    box.fill("mail")  # one text, one answer: a list that changed would lose the choice
    expect(page.get_by_role("group", name="Queues")).to_contain_text("outgoing-mail")
    expect(page.get_by_role("group", name="Scripts")).to_contain_text("send-mail")
    expect(box).to_have_attribute("aria-expanded", "true")
    page.get_by_label("Search", exact=True).press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]")
    expect(chosen).to_have_count(1)
    expect(box).to_have_attribute("aria-activedescendant", chosen.get_attribute("id"))
    where = chosen.get_attribute("href")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(where) + "$"))


def test_escape_closes_the_results_and_enter_opens_their_page(page):
    box = page.get_by_label("Search", exact=True)
    box.fill("going")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search/\?q=going$"))
    page.get_by_role("link", name="outgoing-mail").click()
    expect(page).to_have_url(re.compile("/queues/outgoing-mail/$"))
