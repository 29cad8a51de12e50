"""Every screen under axe-core, in both themes, with markup in every text; no wider than a phone.

The fixture `page_as` adds: no console error, no other host, no violation of the policy.
"""

from pathlib import Path

import pytest

from tests.site.full_site import fill, fill_texts, screens

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

AXE = (Path(__file__).parents[1] / "assets" / "axe.min.js").read_text()
RUN = """async () => {
    const found = await axe.run(document, {resultTypes: ["violations"]});
    return found.violations.filter(v => ["serious", "critical"].includes(v.impact))
        .map(v => `${v.id}: ${v.nodes.map(n => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
}"""

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()


@pytest.fixture
def full_site(transactional_db):
    fill()
    fill_texts()


def test_axe_finds_nothing_serious_on_any_screen_in_either_theme(page_as, full_site):
    page = page_as("admin")
    found = {name: examined(page, path) for name, path in screens().items()}
    assert {name: bad for name, bad in found.items() if bad} == {}


def examined(page, path):
    page.emulate_media(color_scheme="light")
    status = page.goto(path).status
    page.evaluate(AXE)
    injected = page.locator("#injected").count()
    light = page.evaluate(RUN)
    page.emulate_media(color_scheme="dark")
    dark = [f"weak in the dark: {each}" for each in page.evaluate(CONTRAST)]
    width = width_on_a_phone(page)
    wrong = ["injected"] * injected + [f"{status}"] * (status != 200)
    return light + dark + wrong + [f"{width} pixels wide"] * (width > 390)


def width_on_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1280, "height": 900})
    return width


def test_the_measure_itself_finds_a_picture_without_words(page_as, transactional_db):
    page = page_as("viewer")
    page.goto("/system/api/")
    page.evaluate("document.querySelector('main').append(new Image())")
    page.evaluate(AXE)
    assert page.evaluate(RUN)[0].startswith("image-alt")


def test_the_measure_itself_finds_a_weak_text(page_as, transactional_db):
    page = page_as("viewer", color_scheme="light")
    page.goto("/")
    page.evaluate("document.querySelector('h1').style.color = '#dddddd'")
    assert page.evaluate(CONTRAST)[0][0] == "Overview"
