"""How often a live page refreshes: at once, every few seconds, or not at all."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from atributo_site.core.events import record
from tests.browser.live_menu import MENU, WORD, choose
from tests.servers.waiting import wait_until

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = [pytest.mark.only_on("sqlite"), pytest.mark.django_db(transaction=True)]
GO_AWAY = """() => {
    Object.defineProperty(document, "hidden", {value: true, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""
COME_BACK = """() => {
    delete document.hidden;
    document.dispatchEvent(new Event("visibilitychange"));
}"""


COUNT_SWAPS = """() => {
    window.swaps = 0;
    document.addEventListener("htmx:afterSwap", () => window.swaps++);
}"""


@pytest.fixture
def page(page_as):
    """Open the page of events with a clock that stands still."""
    page, now = page_as("viewer"), datetime.now(UTC)
    page.clock.install(time=now)
    page.clock.pause_at(now + timedelta(hours=1))  # before it looks for the first time
    page.goto("/events/")
    page.evaluate(COUNT_SWAPS)
    return page


def choose_and_see(page, name):
    """Choose a pace and wait for its first refresh, during which the page ignores others."""
    choose(page, name)
    page.clock.run_for(2_000)
    wait_until(lambda: page.evaluate("window.swaps") == 2)  # of the part, and the number beside it
    page.clock.run_for(100)  # in which htmx settles


def asked_while(page, act):
    """Return the parts that the page fetched, after its last request was answered."""
    asked = []
    page.on("request", lambda request: asked.append(request.headers.get("hx-request")))
    act()
    with page.expect_response("**/healthz"):
        page.evaluate("fetch('/healthz')")
    return asked.count("true")


def test_a_page_looks_every_thirty_seconds(page):
    choose_and_see(page, "Every 30s")
    expect(page.locator(WORD)).to_have_text("30s")
    record("instance.restored", "instance:web-1")
    assert asked_while(page, lambda: page.clock.run_for(27_000)) == 0
    page.clock.run_for(3_000)
    expect(page.locator("#timeline")).to_contain_text("instance.restored")


def test_no_stream_is_open_for_a_page_that_looks_by_the_clock(page):
    choose(page, "Every 5s")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    expect(page.locator(WORD)).to_have_text("5s")
    page.clock.run_for(5_000)
    expect(page.locator("#timeline")).to_be_visible()
    assert [url for url in asked if "stream" in url] == []


def test_the_choice_holds_for_other_tabs_at_once(page):
    other = page.context.new_page()
    other.goto("/queues/")
    choose(page, "Every 5s")
    expect(other.locator(WORD)).to_have_text("5s")
    choose(page, "Paused")
    expect(other.locator(WORD)).to_have_text("Paused")


def test_a_hidden_tab_is_quiet_and_looks_when_it_is_seen(page):
    choose_and_see(page, "Every 5s")
    page.evaluate(GO_AWAY)
    assert asked_while(page, lambda: page.clock.run_for(60_000)) == 0
    record("instance.restored", "instance:web-2")
    page.evaluate(COME_BACK)
    page.clock.run_for(1_000)
    expect(page.locator("#timeline")).to_contain_text("instance.restored")


def test_p_pauses_and_returns_to_the_pace(page):
    choose(page, "Every 30s")
    page.keyboard.press("p")
    expect(page.locator(WORD)).to_have_text("Paused")
    page.keyboard.press("p")
    expect(page.locator(WORD)).to_have_text("30s")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_menu_is_used_with_the_keyboard_and_fits(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.locator(f"{MENU} summary").focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("group", name="Live updates").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Every 5s")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(f"{MENU} summary")).to_be_focused()
    expect(page.locator(f"{MENU} [aria-pressed=true]")).to_have_text("Every 5s")


def test_a_choice_that_is_none_of_ours_is_at_once(page):
    page.evaluate("localStorage.setItem('pace', '0.001')")
    page.reload()
    expect(page.locator(WORD)).to_have_text("Polling")
