"""The docs in a real Chromium: whole in both themes and on a phone, and one step from each help."""

import pytest
from playwright.sync_api import expect

from tests.assets.axe import AXE, examined

# What a person sees does not depend on the database.
pytestmark = pytest.mark.only_on("sqlite")
IS_DRAWN = "[...document.images].every((image) => image.complete && image.naturalWidth > 0)"


@pytest.mark.parametrize("path", ["/docs/concepts/", "/docs/manifest/", "/docs/decisions/"])
def test_a_page_is_whole_for_everybody(path, page_as, transactional_db):
    page = page_as("viewer")
    page.add_init_script(AXE)
    assert examined(page, path) == []


def test_the_help_leads_to_its_heading_and_the_picture_is_drawn(page_as, transactional_db):
    page = page_as("viewer")
    page.goto("/instances/")
    page.get_by_text("What is an instance?").click()
    page.get_by_role("link", name="Read more").first.click()
    page.wait_for_url("**/docs/concepts/#instance")
    expect(page.get_by_role("heading", name="Instance", exact=True)).to_be_in_viewport()
    page.locator("article img").scroll_into_view_if_needed()
    page.wait_for_function(IS_DRAWN)


def test_code_is_copied_by_a_press(page_as, transactional_db):
    page = page_as("viewer", permissions=["clipboard-read", "clipboard-write"])
    page.goto("/docs/manifest/")
    page.locator(".doc-code").first.hover()
    page.get_by_role("button", name="Copy the code").first.click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('{'))")
