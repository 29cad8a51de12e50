"""Live pages against the real web server, which serves the stream."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from atributo_site.core.events import record
from atributo_site.core.models.clock import database_now
from queues.models import MinuteCount
from tests.browser.live_menu import WITHOUT_CLOCK, WORD, choose
from tests.factories.jobs import make_queue
from tests.fixtures.browser import PATIENCE_MS

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")
REFRESHED = """new Promise((done, failed) => {
  setTimeout(failed, 60000);
  document.body.addEventListener("htmx:afterSettle", done, {once: true});
  htmx.trigger("#overview", "refresh");
}).then(() => null)"""

MOST_SHIFTED = 0.02
SHIFTS = """
window.shifted = 0;
new PerformanceObserver((seen) => {
  for (const each of seen.getEntries()) window.shifted += each.hadRecentInput ? 0 : each.value;
}).observe({ type: "layout-shift", buffered: true });
"""
STREAM_IN_HAND = """
window.EventSource = class extends EventTarget {
  constructor() {
    super();
    window.stream = this;
    setTimeout(() => this.onopen());
  }
  close() {}
  hint(generation) {
    const data = JSON.stringify({ generation, subjects: [] });
    this.dispatchEvent(new MessageEvent("hint", { data }));
  }
};
"""
HINT_BEFORE_SETTLED = """() => {
  document.addEventListener("htmx:afterRequest", () => stream.hint("second"), { once: true });
  stream.hint("first");
}"""


def test_a_hint_refreshes_the_part_that_it_concerns(live_page):
    live_page.add_init_script(WITHOUT_CLOCK)
    live_page.goto("/events/")
    expect(live_page.locator(WORD)).to_have_text("Live")
    record("instance.restored", "instance:web-1")
    expect(live_page.locator("#timeline")).to_contain_text("instance.restored")


def test_a_hint_during_a_fetch_is_followed_after_it(live_page):
    live_page.add_init_script(WITHOUT_CLOCK)
    network = live_page.context.new_cdp_session(live_page)
    network.send("Network.enable")
    hints, held = [], []
    network.on("Network.eventSourceMessageReceived", lambda message: hints.append(message))
    live_page.goto("/events/")
    expect(live_page.locator(WORD)).to_have_text("Live")
    live_page.route("**/events/", lambda route: held.append((route, route.fetch())), times=1)
    record("instance.restored", "instance:web-1")
    pump(live_page, lambda: held)
    record("instance.removed", "instance:web-2")
    pump(live_page, lambda: any("web-2" in hint["data"] for hint in hints))
    route, answer = held[0]
    route.fulfill(response=answer)
    expect(live_page.locator("#timeline")).to_contain_text("instance.removed")


def test_a_hint_before_the_new_part_has_settled_is_followed_after_it(live_page):
    live_page.add_init_script(WITHOUT_CLOCK + STREAM_IN_HAND)
    asked = []
    live_page.on("request", lambda request: asked.append(request.headers.get("x-live")))
    live_page.goto("/events/")
    expect(live_page.locator(WORD)).to_have_text("Live")
    asked.clear()
    live_page.evaluate(HINT_BEFORE_SETTLED)
    pump(live_page, lambda: len(asked) == 2)


def pump(page, condition):
    """Let the page go on until the condition holds."""
    for _ in range(PATIENCE_MS // 20):
        if condition():
            return
        page.wait_for_timeout(20)
    raise AssertionError("the page did not get so far")


def test_what_happens_before_the_stream_opens_is_shown_too(live_page):
    def happen_first(route):
        record("instance.restored", "instance:web-1")
        route.continue_()

    live_page.add_init_script(WITHOUT_CLOCK)
    live_page.route("**/events/stream*", happen_first, times=1)
    live_page.goto("/events/")
    expect(live_page.locator("#timeline")).to_contain_text("instance.restored")


def test_a_refused_stream_is_asked_for_again(live_page):
    live_page.clock.install()
    live_page.route("**/events/stream*", lambda route: route.fulfill(status=204), times=1)
    with live_page.expect_request("**/events/stream*"):
        live_page.goto("/events/")
    expect(live_page.locator(WORD)).to_have_text("Polling")
    with live_page.expect_response("**/events/stream*"):
        live_page.clock.run_for(30_000)
    expect(live_page.locator(WORD)).to_have_text("Live")


def test_a_paused_page_stays_as_it_is(live_page):
    live_page.goto("/events/")
    choose(live_page, "Paused")
    expect(live_page.locator(WORD)).to_have_text("Paused")
    record("instance.restored", "instance:web-1")
    choose(live_page, "Immediately")
    expect(live_page.locator("#timeline")).to_contain_text("instance.restored")


def test_the_overview_is_live_too(live_page):
    live_page.add_init_script(WITHOUT_CLOCK)
    live_page.goto("/")
    expect(live_page.locator(WORD)).to_have_text("Live")
    record("instance.restored", "instance:web-2")
    expect(live_page.locator("#overview")).to_contain_text("instance.restored")


def test_nothing_is_swapped_under_a_finger_that_presses(live_page):
    record("instance.restored", "instance:web-3")
    live_page.goto("/events/")
    live_page.locator("#timeline a.kind").first.hover()
    live_page.mouse.down()
    with live_page.expect_response("**/events/"):
        live_page.evaluate("htmx.trigger('#timeline', 'refresh')")
    live_page.mouse.up()
    expect(live_page).to_have_url(re.compile("kind=instance.restored"))


def test_charts_are_replaced_in_place_and_forgotten(live_page, wait_until):
    """A page on a wall refreshes itself thousands of times a day; nothing on it jumps."""
    live_page.add_init_script(SHIFTS)
    minute = database_now().replace(second=0, microsecond=0) - timedelta(minutes=2)
    MinuteCount.objects.create(queue=make_queue(), minute=minute, complete=3, wait_1=3, run_2=3)
    live_page.goto("/")
    expect(live_page.locator("canvas")).to_have_count(3)
    for _ in range(4):
        live_page.evaluate(REFRESHED)
        expect(live_page.locator("canvas")).to_have_count(3)
    wait_until(lambda: drawings(live_page) == 3)
    assert live_page.evaluate("window.shifted") <= MOST_SHIFTED


def drawings(page):
    """Count the canvases that are alive, on the page or not."""
    cdp = page.context.new_cdp_session(page)
    kind = cdp.send("Runtime.evaluate", {"expression": "HTMLCanvasElement.prototype"})
    found = cdp.send("Runtime.queryObjects", {"prototypeObjectId": kind["result"]["objectId"]})
    length = {
        "objectId": found["objects"]["objectId"],
        "functionDeclaration": "function() { return this.length }",
    }
    return cdp.send("Runtime.callFunctionOn", {**length, "returnByValue": True})["result"]["value"]
