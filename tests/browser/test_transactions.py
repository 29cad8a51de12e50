"""Transactions, locks, curators and documents in a real Chromium; see the fixture `page_as`."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from allocation.transactions import Client
from allocation.transactions.models import Transaction as Row
from tests.factories.open_transactions import open_transaction

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

INJECTION = "<img src=x onerror=alert(1)><b id=injected>"


@pytest.fixture
def story(transactional_db):
    """Make a stuck transaction and an open one, with HTML in their texts; return the open one."""
    client = Client()
    client.put("accounts", "ada", {"balance": 120, "note": INJECTION})
    client.put("accounts", "ada", {"balance": 110, "note": INJECTION, "tags": ["x" * 300]})
    txn, stuck = (open_transaction(client, f"vera {INJECTION}") for _ in range(2))
    txn.put("accounts", "ada", {"balance": 90})
    Row.objects.filter(pk=stuck.id).update(status="stuck", error=INJECTION * 9, attempts=3)
    return txn.id


def test_a_form_without_a_reason_is_not_sent(page_as, story):
    page = page_as("admin")
    page.goto(f"/transactions/{story}/complete")
    page.get_by_role("button", name="Keep the changes of transaction").click()
    expect(page.locator("textarea:invalid")).to_be_focused()


def test_two_versions_of_a_document_are_compared_without_javascript(page_as, story):
    page = page_as("viewer", java_script_enabled=False)
    page.goto("/documents/")
    page.get_by_role("link", name="accounts").click()
    page.get_by_role("link", name="ada").click()
    page.locator("[name=from]").nth(2).check()
    page.locator("[name=to]").nth(1).check()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#changes")).to_contain_text(re.compile(r"balance\s*−120\s*\+110"))


def test_the_keyboard_opens_transactions_and_documents(page_as, story):
    page = page_as("viewer")
    page.clock.set_fixed_time(datetime.now(UTC))  # a slow machine types slowly
    page.goto("/")
    for key, path in {"t": "/transactions/", "d": "/documents/"}.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(re.compile(f"{path}$"))  # until it is loaded: then it hears keys


def test_what_is_stuck_appears_by_itself(page_as, story):
    page = page_as("viewer")
    page.goto("/transactions/stuck/")
    expect(page.locator("#stuck tbody tr")).to_have_count(1)
    Row.objects.filter(pk=story).update(status="stuck", error="the disk is full")
    expect(page.locator("#stuck tbody tr")).to_have_count(2)
    expect(page.locator("#tab-stuck")).to_have_text("Stuck2")
