"""The docs page in a real browser, offline and under the strict policy."""

import pytest

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")


def test_the_docs_page_shows_the_endpoints_and_tries_one(page_as):
    page = page_as("viewer")
    page.goto("/api/v1/docs")
    page.locator("#operations-tag-me").click()
    page.get_by_text("/api/v1/me").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    page.locator(".live-responses-table").get_by_text('"role"').wait_for()


def test_the_docs_page_may_change_something_by_the_session(page_as):
    page = page_as("viewer")
    page.goto("/api/v1/docs")
    page.locator("#operations-tag-tokens").click()
    page.locator(".opblock-post", has_text="/api/v1/tokens").click()
    page.get_by_role("button", name="Try it out").click()
    page.locator("textarea.body-param__text").fill('{"name": "docs", "level": "view"}')
    page.get_by_role("button", name="Execute").click()
    page.locator(".live-responses-table .response-col_status", has_text="201").wait_for()
