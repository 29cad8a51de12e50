"""Every screen of the resolver in a real Chromium, for each role, with and without JavaScript.

The fixture `page_as` adds: no console error, no other host, no violation of the policy.
"""

from pathlib import Path

import pytest
from django.contrib import admin
from django.urls import reverse

from tests.site.every_url import every_url
from tests.site.full_site import fill, fill_texts, screens

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
URLS = {url.name: url for url in every_url()}
WIDTHS = [  # each role at one width with scripts and at another without
    ("viewer", True, 390),
    ("operator", True, 1024),
    ("admin", True, 1440),
    ("viewer", False, 1440),
    ("operator", False, 390),
    ("admin", False, 1024),
]
# One of each kind: they are all made by the same few templates.
RAW_KINDS = [
    "/admin/",
    "/admin/allocation/event/",
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


@pytest.mark.parametrize("role, javascript, width", WIDTHS)
def test_it_opens_with_one_heading_and_fits(role, javascript, width, page_as, full_site):
    page = page_as(role, java_script_enabled=javascript, viewport=size(width))
    expected = {name: [200, 1, 0, width] if may(role, name) else [403] for name in screens()}
    found = {name: seen(page, path, may(role, name)) for name, path in screens().items()}
    assert found == expected


def may(role, name):
    return URLS[name].expected(role, "GET") == "answered"


def size(width):
    return {"width": width, "height": 900}


def seen(page, path, opened=True):
    """What is refused is not opened: Chromium would tell its console about the status."""
    if not opened:
        return [page.request.get(path).status]
    return [page.goto(path).status, *page.evaluate(LOOK)]


def test_every_raw_list_and_a_row_of_it_open(page_as, full_site):
    page = page_as("admin", viewport=size(390))
    found = {path: seen(page, path) for path in raw_pages()}
    assert found == dict.fromkeys(found, [200, 1, 0, 390])


def test_raw_lists_need_no_javascript(page_as, full_site):
    page = page_as("admin", java_script_enabled=False, viewport=size(1440))
    assert [seen(page, path) for path in RAW_KINDS] == [[200, 1, 0, 1440]] * len(RAW_KINDS)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_of_the_raw_lists_can_be_read(theme, page_as, full_site):
    page = page_as("admin", color_scheme=theme)
    found = [page.goto(path) and page.evaluate(CONTRAST) for path in RAW_KINDS]
    assert found == [[]] * len(RAW_KINDS)


def raw_pages():
    yield from map(reverse, ["admin:index", "admin:password_change"])
    for model, raw in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        row = model.objects.first()
        yield reverse(f"{name}_changelist")
        yield from [reverse(f"{name}_change", args=[row.pk])] if row else []
        yield from [reverse(f"{name}_add")] if raw.may_add else []
