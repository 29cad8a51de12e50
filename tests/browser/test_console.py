"""The console in a real Chromium. Every page also fails on a console error, a request to
another host and a violation of the content security policy (see the fixture `page_as`)."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from atributo_site.core.events import Actor, acting, record
from atributo_site.core.models import Lease
from tests.browser.live_menu import MENU, WITHOUT_CLOCK, WORD, choose
from tests.fixtures.browser import WORDS_STAY

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

INJECTION = "<img src=x onerror=alert(1)><b id=injected>"
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.fixture
def story(transactional_db):
    with acting(Actor(INJECTION, "browser")):
        record(INJECTION[:64], f"instance:{INJECTION}", **{INJECTION: [INJECTION]})
    for number in range(60):
        record("instance.drained", f"instance:web-{number}", reason="kernel update", load=number)
    Lease.objects.acquire(f"worker/{INJECTION}", INJECTION, 3600, note=INJECTION)


def theme_of(page):
    return page.evaluate("document.documentElement.dataset.theme")


def test_the_navigation_is_at_the_bottom_of_a_phone(page_as, transactional_db):
    page = page_as("viewer", **PHONE)
    page.goto("/")
    bar = page.get_by_role("navigation", name="Screens").bounding_box()
    assert round(bar["y"] + bar["height"]) == 844
    page.get_by_role("link", name="Events", exact=True).click()
    expect(page.get_by_role("heading", name="Events")).to_be_visible()


def test_the_current_tab_and_screen_are_in_sight_on_a_phone(page_as, transactional_db):
    page = page_as("viewer", **PHONE)
    page.goto("/transactions/curators/")
    for bar, name in (("Screens", "Transactions"), ("Transactions", "Curators")):
        link = page.get_by_role("navigation", name=bar, exact=True).get_by_role("link", name=name)
        box = link.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, name


def test_what_a_finger_presses_is_44_pixels_high(page_as, story):
    page = page_as("admin", **PHONE)
    page.goto("/events/")
    small = page.evaluate("""() => [...document.querySelectorAll(
        "nav a, header summary, header button, header input, .button, .filters input, .tabs a"
    )].filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 43.5)
      .map(e => e.outerHTML.slice(0, 80))""")
    assert small == []


def test_the_theme_changes_at_once_and_stays(page_as, transactional_db):
    page = page_as("viewer")
    page.goto("/")
    assert theme_of(page) == "auto"
    page.get_by_label("Theme: auto").click()
    with page.expect_response("**/theme"):
        page.get_by_role("button", name="Dark").click()
    assert theme_of(page) == "dark"
    page.reload()
    assert theme_of(page) == "dark"
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"


def test_without_javascript_everything_is_there(page_as, story):
    page = page_as("operator", java_script_enabled=False)
    page.goto("/")
    page.locator(".theme summary").click()
    page.get_by_role("button", name="Light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.get_by_role("link", name="Events", exact=True).click()
    page.get_by_label("Subject").fill("instance:web-7")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#timeline tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Clear").click()
    page.get_by_role("link", name="Older").click()
    expect(page.locator("#timeline tbody tr")).to_have_count(11)
    expect(page.locator(MENU)).to_be_hidden()


def test_the_keyboard_reaches_search_help_and_screens(page_as, transactional_db):
    page = page_as("viewer")
    page.clock.set_fixed_time(datetime.now(UTC))  # a slow machine types slowly
    page.goto("/")
    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type("gs?")
    expect(page.get_by_label("Search")).to_have_value("gs?")
    page.get_by_label("Search").blur()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile(r"/events/$"))


def test_the_first_tab_skips_to_the_content(page_as, transactional_db):
    page = page_as("viewer")
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()


def test_a_new_event_appears_by_itself(page_as, story):
    page = page_as("viewer")
    page.goto("/events/")
    expect(page.locator(WORD)).to_have_text("Polling")
    record("instance.restored", "instance:web-1")
    expect(page.locator("#timeline")).to_contain_text("instance.restored")


def test_a_paused_page_asks_nothing(page_as, story):
    page = page_as("viewer")
    page.goto("/events/")
    choose(page, "Paused")
    expect(page.locator(WORD)).to_have_text("Paused")
    page.reload()
    expect(page.locator(WORD)).to_have_text("Paused")
    choose(page, "Immediately")
    expect(page.locator(WORD)).to_have_text("Polling")


def test_times_are_relative_with_the_absolute_on_hover(page_as, story):
    page = page_as("viewer")
    page.goto("/events/")
    time = page.locator("time[data-relative]").first
    expect(time).to_have_text(re.compile(r"just now|ago"))
    expect(time).to_have_attribute("title", re.compile(r"UTC · .+ local"))


def test_a_command_is_copied(page_as, transactional_db):
    page = page_as("viewer", permissions=["clipboard-read", "clipboard-write"])
    page.add_init_script(WORDS_STAY)
    page.add_init_script(WITHOUT_CLOCK)
    page.goto("/")
    page.get_by_label("Copy the command").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert "manage.py" in page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize("path", ["/nothing-here", "/admin/nothing-here/"])
def test_a_wrong_address_is_a_page_of_ours(path, page_as, transactional_db):
    page = page_as("viewer")
    assert page.goto(path).status == 404
    expect(page.get_by_role("link", name="Go to the overview")).to_be_visible()
    page.troubles.clear()  # Chromium reports the 404 itself
