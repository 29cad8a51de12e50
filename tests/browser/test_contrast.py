"""Every text can be read: WCAG's AA in both themes."""

from pathlib import Path

import pytest

from allocation.events import record

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
PATHS = [
    "/",
    "/events/",
    "/system/",
    "/system/settings/",
    "/system/tokens/",
    "/admin/",
    "/admin/allocation/event/",
    "/admin/auth/user/1/change/",
]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_has_enough_contrast(theme, page_as, transactional_db):
    record("instance.drained", "instance:web-1", reason="kernel update")
    page = page_as("admin", color_scheme=theme)
    weak = {path: page.goto(path) and page.evaluate(CONTRAST) for path in PATHS}
    assert weak == {path: [] for path in PATHS}


def test_the_measure_itself_finds_a_weak_text(page_as, transactional_db):
    page = page_as("viewer", color_scheme="light")
    page.goto("/")
    page.evaluate("document.querySelector('h1').style.color = '#dddddd'")
    assert page.evaluate(CONTRAST)[0][0] == "Overview"
