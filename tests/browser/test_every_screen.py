"""Every screen of the resolver in a real Chromium, for each role, without JavaScript.

With JavaScript each is looked at in test_accessibility, and for each role in a soak.

The fixture `page_as` adds: no console error, no other host, no violation of the policy.
"""

import pytest

from tests.assets.axe import CONTRAST
from tests.console.every_url import every_url
from tests.console.full_site import fill, fill_texts, screens

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

URLS = {url.name: url for url in every_url()}
WIDTHS = {"viewer": 390, "operator": 1024, "admin": 1440}
# One of each kind: they are all made by the same few templates, and the answers of all are tested.
RAW_KINDS = [
    "/admin/",
    "/admin/password_change/",
    "/admin/allocation/event/",
    "/admin/queues/queuedjob/",
    "/admin/auth/user/",
    "/admin/auth/user/add/",
    "/admin/auth/user/1/change/",
]
# How many headings, how many elements made of a row's text, and how wide it is.
LOOK = """() => [document.querySelectorAll("h1").length,
    document.querySelectorAll("#injected").length, document.documentElement.scrollWidth]"""


@pytest.fixture
def full_site(transactional_db):
    fill()
    fill_texts()


@pytest.mark.soak
@pytest.mark.parametrize("role", WIDTHS)
def test_it_opens_for_everybody_who_may(role, page_as, full_site):
    width = WIDTHS[role]
    page = page_as(role, viewport=size(width))
    found = {name: seen(page, path, may(role, name)) for name, path in screens().items()}
    assert found == {name: [200, 1, 0, width] if may(role, name) else [403] for name in found}


@pytest.mark.parametrize("role", WIDTHS)
def test_it_opens_without_javascript(role, page_as, full_site):
    page = page_as(role, java_script_enabled=False, viewport=size(1024))
    found = {name: seen(page, path) for name, path in share_of(role).items()}
    assert found == dict.fromkeys(found, [200, 1, 0, 1024])


def share_of(role):
    """Open each screen as one of the roles that may; all of them get the same page."""
    found = {}
    for number, (name, path) in enumerate(screens().items()):
        roles = [each for each in WIDTHS if may(each, name)]
        if roles[number % len(roles)] == role:
            found[name] = path
    return found


def may(role, name):
    return URLS[name].expected(role, "GET") == "answered"


def size(width):
    return {"width": width, "height": 900}


def seen(page, path, opened=True):
    """Ask without opening the page, since Chromium would log the refusal to its console."""
    if not opened:
        return [page.request.get(path).status]
    return [page.goto(path).status, *page.evaluate(LOOK)]


@pytest.mark.parametrize("javascript, width", [(True, 390), (False, 1440)])
def test_raw_lists_open_with_one_heading_and_fit(javascript, width, page_as, full_site):
    page = page_as("admin", java_script_enabled=javascript, viewport=size(width))
    found = {path: seen(page, path) for path in RAW_KINDS}
    assert found == dict.fromkeys(RAW_KINDS, [200, 1, 0, width])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_of_the_raw_lists_can_be_read(theme, page_as, full_site):
    page = page_as("admin", color_scheme=theme)
    found = [page.goto(path) and page.evaluate(CONTRAST) for path in RAW_KINDS]
    assert found == [[]] * len(RAW_KINDS)
