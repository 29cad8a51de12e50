"""Pages are logged in by role, and no fault on a page goes unnoticed."""

import asyncio
import os

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tests.fixtures.browser import chromium_path
from tests.servers import chromium

pytestmark = pytest.mark.urls("tests.console.pages_for_browser")


def who(page):
    page.goto("/who")
    return page.get_by_role("paragraph").inner_text()


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_a_page_is_logged_in_by_role(page_as, role):
    assert who(page_as(role)) == f"{role} of ['{role}']"


def test_an_anonymous_page_is_nobody(page_as):
    assert who(page_as(None)) == "AnonymousUser of []"


def test_two_roles_at_once(page_as):
    viewer, admin = page_as("viewer"), page_as("admin")
    assert [who(page).split()[0] for page in (viewer, admin, viewer)] == [
        "viewer",
        "admin",
        "viewer",
    ]


def test_a_good_page_has_no_trouble(page_as):
    page = page_as("viewer")
    page.goto("/good")
    expect(page.get_by_role("heading", name="good")).to_be_visible()
    assert page.troubles == []


@pytest.mark.only_on("sqlite")  # the faults have nothing to do with the database
@pytest.mark.parametrize(
    "path, trouble",
    [
        ("console", "console: it hurts"),
        ("throws", "script error: it broke"),
        ("missing", "console: Failed to load resource"),
        ("inline", "policy: script-src-elem forbids inline"),
        ("styled", "policy: style-src-attr forbids inline"),
        ("abroad", "another host: http://127.0.0.1:9/picture.png"),
    ],
)
def test_every_fault_is_noticed(page_as, wait_until, path, trouble):
    page = page_as("viewer")
    page.goto(f"/{path}")
    wait_until(lambda: page.evaluate("1") and trouble in "\n".join(page.troubles))
    page.troubles.clear()


def test_a_running_browser_does_not_make_other_tests_asynchronous(running_browser, db):
    async def answer():
        return 42

    assert "DJANGO_ALLOW_ASYNC_UNSAFE" not in os.environ
    assert not User.objects.exists()
    assert async_to_sync(answer)() == asyncio.run(answer()) == 42


@pytest.mark.parametrize("named", ["", "/nowhere"])
def test_a_missing_browser_is_said_clearly(monkeypatch, named):
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None)
    monkeypatch.setattr(chromium, "MAC", "")
    monkeypatch.setenv("CHROMIUM", named)
    with pytest.raises(RuntimeError, match="need Chromium. Install it"):
        chromium_path()


def test_a_browser_can_be_named(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/bin/sh")
    assert chromium_path() == "/bin/sh"
