"""A dry run executes, shows what it would do, and takes all of it back."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from allocation.transactions.models import Lock
from queues.models import HeldPush, QueuedJob
from queues.worker.run_now import run_script

SCRIPTS = "/api/v1/services/scripts/transfer?mount=/bank"


@pytest.fixture(autouse=True)
def here(scripts_start_quickly):
    """Let scripts that run at once use this test's database."""


def nothing_is_left(bank):
    rows = (Lock, HeldPush, QueuedJob)
    return bank.balances() == [1000, 1000] and not any(row.objects.exists() for row in rows)


def test_a_dry_run_shows_the_changes_and_pushes_by_rest(bank, rest_as):
    answer = rest_as("operator").post(
        f"{SCRIPTS}&dry_run=true", bank.order(), content_type="application/json"
    )
    assert answer.json()["result"] == {"ada": 990, "grace": 1010}
    changes = [
        (line["key"], line["before"]["balance"], line["after"]["balance"])
        for line in answer.json()["changes"]
    ]
    assert changes == [("ada", 1000, 990), ("grace", 1000, 1010)]
    assert [push["script"] for push in answer.json()["pushes"]] == ["receipt"]
    assert nothing_is_left(bank)


def test_a_dry_run_from_a_terminal(bank):
    out = StringIO()
    order = json.dumps(bank.order())
    call_command("script", "/bank", "transfer", "--data", order, "--dry-run", stdout=out)
    assert [line["key"] for line in json.loads(out.getvalue())["changes"]] == ["ada", "grace"]
    assert nothing_is_left(bank)


def test_a_dry_run_in_the_browser_shows_the_diff(bank, client_as):
    fields = {f"data-{name}": value for name, value in bank.order().items()}
    page = client_as("operator").post(
        "/services/bank/-/scripts/transfer/", {**fields, "dry_run": "yes"}, follow=True
    )
    assert "Would change" in page.text and "990" in page.text
    assert "/bank/receipt" in page.text
    assert nothing_is_left(bank)


def test_writes_outside_a_transaction_are_taken_back_too(bank):
    ran = run_script("/bank", "open-account", {"owner": "edsger"}, dry_run=True)
    assert ran.result == {"opened": True}
    assert not bank.client.get("bank_accounts", "edsger").ok
    assert nothing_is_left(bank)


def test_a_script_that_runs_now_completes_with_its_success(bank):
    ran = run_script("/bank", "transfer", bank.order())
    assert ran.result == {"ada": 990, "grace": 1010}
    assert bank.balances() == [990, 1010]
    assert QueuedJob.objects.get().script == "receipt"


def test_dry_run_is_true_or_false(bank, rest_as):
    answer = rest_as("operator").post(
        f"{SCRIPTS}&dry_run=maybe", bank.order(), content_type="application/json"
    )
    assert answer.status_code == 400
