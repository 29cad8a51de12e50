"""Every screen under axe-core, in both themes, with markup in every text, on three widths.

The fixture `page_as` adds: no console error, no other host, no violation of the policy.
"""

import pytest

from tests.assets.axe import AXE, BUT_COLOURS, CONTRAST, PHONE, RUN, examined, wide
from tests.console.full_site import fill, fill_texts, screens

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

LONG = "n" * 240  # nearly the longest name, without a place to break it
RAW_LISTS = ["/admin/queues/queuedjob/", "/admin/allocation/event/"]


@pytest.fixture
def full_site(transactional_db):
    fill()
    fill_texts()


@pytest.mark.parametrize("part", range(4))
def test_every_screen_is_whole_for_everybody_in_either_theme(part, page_as, full_site):
    page = page_as("admin")
    page.add_init_script(AXE)
    paths = list(screens().values())[part::4]
    found = {path: examined(page, path) for path in paths}
    assert {path: bad for path, bad in found.items() if bad} == {}


@pytest.fixture
def site_of_long_names(transactional_db):
    fill(LONG)
    fill_texts(LONG)


@pytest.mark.parametrize("part", range(2))
def test_a_long_name_makes_no_screen_wider(part, page_as, site_of_long_names):
    page = page_as("admin", java_script_enabled=False)
    paths = [*screens(LONG).values(), *RAW_LISTS][part::2]
    found = {path: page.goto(path) and list(wide(page)) for path in paths}
    assert {path: bad for path, bad in found.items() if bad} == {}


@pytest.mark.soak
def test_axe_finds_no_weak_colour_in_either_theme(page_as, full_site):
    page = page_as("admin")
    page.add_init_script(AXE)
    found = {path: colours(page, path) for path in screens().values()}
    assert {path: bad for path, bad in found.items() if bad} == {}


def colours(page, path):
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.goto(path)
        found += page.evaluate(RUN, {"runOnly": ["color-contrast"]})
    return found


def test_the_measure_itself_finds_a_picture_without_words(page_as, transactional_db):
    page = page_as("viewer")
    page.goto("/system/api/")
    page.evaluate("document.querySelector('main').append(new Image())")
    page.evaluate(AXE)
    assert page.evaluate(RUN, BUT_COLOURS)[0].startswith("image-alt")


def test_the_measure_itself_finds_a_weak_text(page_as, transactional_db):
    page = page_as("viewer", color_scheme="light")
    page.goto("/")
    page.evaluate("document.querySelector('h1').style.color = '#dddddd'")
    assert page.evaluate(CONTRAST)[0][0] == "Overview"


def test_the_measure_itself_finds_what_a_phone_spoils(page_as, transactional_db):
    page = page_as("viewer", viewport={"width": 390, "height": 844})
    page.goto("/system/api/")
    page.evaluate("""() => {
        document.querySelector("main").innerHTML =
            "<table class=table><tr><td data-label=Job>7</td></tr></table><button>x</button>";
        document.querySelector("td").style.padding = 0;
    }""")
    assert page.evaluate(PHONE) == ["label over its value: Job", "too small for a finger: x"]
