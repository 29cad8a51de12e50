"""Transactions, locks, curators and documents in a real Chromium; see the fixture `page_as`."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from allocation.events import record
from allocation.leases import HeldLease
from allocation.models import Event
from allocation.transactions import Client
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from tests.site.open_transactions import open_transaction

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
INJECTION = "<img src=x onerror=alert(1)><b id=injected>"
PHONE = {"viewport": {"width": 390, "height": 844}}
TABS = ["", "stuck/", "locks/", "history/", "curators/"]
VIEWED = [
    *(f"/transactions/{tab}" for tab in TABS),
    "/transactions/{txn}/",
    "/documents/",
    "/documents/accounts/",
    "/documents/accounts/?q=balance:>1",
    "/documents/accounts/ada/",
]
OPERATED = [
    "/transactions/{txn}/roll_back",
    "/transactions/{txn}/complete",
    "/transactions/{stuck}/retry",
    "/transactions/locks/{lock}/release",
    "/transactions/curators/hand_over",
]


@pytest.fixture
def story(transactional_db):
    """One of everything; texts that would be harmful as HTML."""
    client = Client()
    client.put("accounts", "ada", {"balance": 120, "note": INJECTION})
    client.put("accounts", "ada", {"balance": 110, "note": INJECTION, "tags": ["x" * 300]})
    txn, stuck, done = (open_transaction(client, f"vera {INJECTION}") for _ in range(3))
    txn.put("accounts", "ada", {"balance": 90})
    Row.objects.filter(pk=stuck.id).update(status="stuck", error=INJECTION * 9, attempts=3)
    done.put("accounts", "grace", {"balance": 1})
    done.complete()
    HeldLease.take("curator", "host:1", 600, name="first")
    HeldLease.take("curator/first", "host:1", 600, repaired={"old events": 3})
    HeldLease.take("curator/second", "host:2", 600)
    record("curator.repaired", "curator:first", repair="old events", count=3)
    return {"txn": txn.id, "stuck": stuck.id, "lock": Lock.objects.get().pk}


def paths_of(story, role):
    return [path.format(**story) for path in VIEWED + (OPERATED if role != "viewer" else [])]


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_every_screen_opens_for_every_role(role, page_as, story):
    page = page_as(role)
    for path in paths_of(story, role):
        assert page.goto(path).status == 200
        expect(page.locator("h1")).to_be_visible()
        assert page.locator("#injected").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone_and_all_can_be_read(theme, page_as, story):
    page = page_as("operator", **PHONE, color_scheme=theme)
    found = {}
    for path in paths_of(story, "operator"):
        page.goto(path)
        width = page.evaluate("document.documentElement.scrollWidth")
        found[path] = (width, page.evaluate(CONTRAST))
    assert found == dict.fromkeys(found, (390, []))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_has_enough_contrast_on_a_desk(theme, page_as, story):
    page = page_as("operator", color_scheme=theme)
    paths = paths_of(story, "operator")
    weak = {path: page.goto(path) and page.evaluate(CONTRAST) for path in paths}
    assert weak == dict.fromkeys(paths, [])


@pytest.mark.parametrize("javascript", [True, False])
def test_who_holds_a_lock_is_found_and_the_key_freed(javascript, page_as, story):
    page = page_as("operator", java_script_enabled=javascript)
    page.goto("/")
    page.get_by_role("link", name="Locks", exact=True).click()
    expect(page.locator("#locks tbody tr")).to_contain_text("vera")
    page.get_by_label("Release the lock on accounts/ada").click()
    expect(page.locator("h1")).to_have_text("Release the lock on accounts/ada?")
    page.get_by_label("Reason").fill("its process is gone")
    page.get_by_role("button", name="Release the lock").click()
    expect(page.get_by_text("is released.")).to_be_visible()
    expect(page.get_by_text("No key is locked")).to_be_visible()
    assert Client().get("accounts", "ada")["balance"] == 110


@pytest.mark.parametrize("javascript", [True, False])
def test_a_transaction_is_rolled_back_from_its_page(javascript, page_as, story):
    page = page_as("operator", java_script_enabled=javascript)
    page.goto("/transactions/")
    page.get_by_role("link", name=str(story["txn"]), exact=True).click()
    page.get_by_role("link", name="Roll back").click()
    expect(page.locator(".changes")).to_contain_text("110")
    page.get_by_label("Reason").fill("wrong data")
    page.get_by_role("button", name="Roll back transaction").click()
    expect(page.get_by_text("keys restored: 1.")).to_be_visible()
    expect(page.get_by_text("these changes are undone")).to_be_visible()
    assert Event.objects.get(kind="transaction.rolled_back").facts["reason"] == "wrong data"


def test_a_stuck_transaction_is_tried_again(page_as, story):
    page = page_as("operator")
    page.goto("/transactions/stuck/")
    page.get_by_role("link", name=str(story["stuck"]), exact=True).click()
    page.get_by_role("link", name="Retry").click()
    page.get_by_label("Reason").fill("the disk is mended")
    page.get_by_role("button", name="Retry transaction").click()
    expect(page.get_by_text("is rolled back at last")).to_be_visible()


def test_a_transaction_is_completed_as_it_stands(page_as, story):
    page = page_as("admin")
    page.goto(f"/transactions/{story['txn']}/")
    page.get_by_role("link", name="Complete").click()
    page.get_by_label("Reason").fill("checked by hand")
    page.get_by_role("button", name="Complete transaction").click()
    expect(page.get_by_text("these changes stand")).to_be_visible()


def test_a_form_without_a_reason_is_not_sent(page_as, story):
    page = page_as("operator")
    page.goto(f"/transactions/{story['txn']}/complete")
    page.get_by_role("button", name="Complete transaction").click()
    expect(page.locator("textarea:invalid")).to_be_focused()


def test_the_curator_hands_over(page_as, story):
    page = page_as("operator")
    page.goto("/transactions/curators/")
    page.get_by_role("link", name="Hand over").click()
    page.get_by_label("Reason").fill("upgrade")
    page.get_by_role("button", name="Hand over").click()
    expect(page.get_by_text("No curator is active")).to_be_visible()
    expect(page.get_by_text("curator.handed_over")).to_be_visible()


@pytest.mark.parametrize("javascript", [True, False])
def test_two_versions_of_a_document_are_compared(javascript, page_as, story):
    page = page_as("viewer", java_script_enabled=javascript)
    page.goto("/documents/")
    page.get_by_role("link", name="accounts").click()
    page.get_by_role("link", name="ada").click()
    page.locator("[name=from]").nth(2).check()
    page.locator("[name=to]").nth(1).check()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#changes")).to_contain_text(re.compile(r"balance\s*−120\s*\+110"))


def test_the_keyboard_opens_transactions_and_documents(page_as, story):
    page = page_as("viewer")
    page.goto("/")
    for key, path in {"t": "/transactions/", "d": "/documents/"}.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"{path}$"))


def test_what_is_stuck_appears_by_itself(page_as, story):
    page = page_as("viewer")
    page.goto("/transactions/stuck/")
    expect(page.locator("#stuck tbody tr")).to_have_count(1)
    Row.objects.filter(pk=story["txn"]).update(status="stuck", error="the disk is full")
    expect(page.locator("#stuck tbody tr")).to_have_count(2, timeout=15_000)
