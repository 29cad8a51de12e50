"""Pools & DNS in a real browser: no error, no sideways scrolling, buttons that work."""

import pytest

from tests.pools_site.watching import states

PATHS = ["", "backends/", "timeline/", "live/", "look-up/", "new/", "watched/svc/"]


@pytest.fixture
def two(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    return watching


@pytest.mark.parametrize("width", [1440, 390])
def test_no_screen_is_wider_than_the_window(page_as, two, width):
    page = page_as("admin", viewport={"width": width, "height": 844})
    for path in PATHS:
        page.goto(f"/pools/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_an_operator_drains_a_backend_with_a_button(page_as, two):
    page = page_as("operator")
    page.goto("/pools/watched/svc/")
    page.get_by_role("button", name="Drain 10.0.0.1:8001").click()
    page.get_by_text("10.0.0.1:8001: drain.").wait_for()
    assert states()["10.0.0.1:8001"] == "draining"


def test_a_name_is_looked_up_in_the_tool(page_as, two):
    page = page_as("operator")
    page.goto("/pools/look-up/?host=svc.example")
    page.get_by_label("Nameservers").fill(f"127.0.0.1:{two.server.port}")
    page.get_by_role("button", name="Look up").click()
    page.get_by_text("2 backends").wait_for()
