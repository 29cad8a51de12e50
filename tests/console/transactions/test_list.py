"""The screens and actions of transactions, locks and curators."""

import re
from datetime import timedelta

import pytest
from django.db.models import F

from allocation.transactions import Client
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.models import Document, Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.web import pagination
from queues.models import AttemptTransaction, QueuedJob
from tests.factories.jobs import make_job, make_queue
from tests.factories.open_transactions import open_transaction
from tests.transactions.engine.poison import poisoned

pytestmark = pytest.mark.django_db(transaction=True)

TABS = ["", "stuck/", "locks/", "history/", "curators/"]
ACTIONS = ["roll_back", "complete", "retry"]


@pytest.fixture
def accounts():
    client = Client()
    client.put("accounts", "ada", {"balance": 120, "api_key": "canary-1"}).raise_for_status()
    client.put("accounts", "grace", {"balance": 80}).raise_for_status()
    return client


@pytest.fixture
def txn(accounts):
    txn = open_transaction(accounts, owner="vera")
    txn.put("accounts", "ada", {"balance": 90, "api_key": "canary-2"})
    txn.delete("accounts", "grace")
    return txn


@pytest.fixture
def stuck(txn):
    rows = Row.objects.filter(pk=txn.id)
    rows.update(expires_at=F("expires_at") - timedelta(hours=2))
    lease = HeldLease.take("curator", "host:1", 600, name="curator-1")
    with poisoned("allocation_document", "NEW.key = 'ada'"):
        expired_transactions(database_now(), lease)
        yield txn


def balance(client, key="ada"):
    return client.get("accounts", key)["balance"]


def test_the_tabs_count_no_further_than_they_say(accounts, client_as, monkeypatch):
    monkeypatch.setattr(pagination, "MOST_COUNTED", 2)
    opened = [open_transaction(accounts) for _ in range(7)]
    Row.objects.filter(pk__in=[txn.id for txn in opened[:3]]).update(status="stuck")
    page = client_as("viewer").get("/transactions/").text
    counts = re.findall(r'id="tab-(\w+)".*?number-of[^>]*>([^<]*)<', page)
    assert counts == [("open", "2+"), ("stuck", "2+"), ("locks", "0")]


@pytest.mark.parametrize("tab", TABS)
def test_empty_tabs_say_what_would_be_there(tab, client_as):
    assert 'class="empty"' in client_as("viewer").get(f"/transactions/{tab}").text


@pytest.mark.parametrize("tab", TABS)
def test_a_viewer_sees_everything_and_no_button(tab, stuck, client_as):
    answer = client_as("viewer").get(f"/transactions/{tab}")
    assert answer.status_code == 200
    assert "button danger" not in answer.text
    assert "Hand over" not in answer.text


def test_an_open_transaction_is_listed_with_its_owner_and_its_time(txn, client_as):
    page = client_as("viewer").get("/transactions/").text
    assert f'href="/transactions/{txn.id}/"' in page
    assert ">vera<" in page
    assert " left<" in page


def test_the_one_whose_time_ends_first_comes_first(accounts, client_as):
    late, soon = open_transaction(accounts), open_transaction(accounts)
    Row.objects.filter(pk=soon.id).update(expires_at=F("expires_at") - timedelta(minutes=65))
    page = client_as("viewer").get("/transactions/").text
    assert page.index(f"/transactions/{soon.id}/") < page.index(f"/transactions/{late.id}/")
    assert "overdue for 4m" in page


def test_the_journal_shows_before_and_after_and_hides_secrets(txn, client_as):
    page = client_as("viewer").get(f"/transactions/{txn.id}/").text
    assert re.search(r"balance</code>.*?120</pre>.*?90</pre>", page, re.DOTALL)
    assert "deleted" in page
    assert "canary" not in page


def test_a_journal_whose_version_is_gone_says_so(txn, accounts, client_as):
    txn.complete()
    accounts.delete("accounts", "ada")
    assert "is no longer kept" in client_as("viewer").get(f"/transactions/{txn.id}/").text


def test_what_was_undone_is_marked(txn, accounts, client_as):
    accounts.put("accounts", "ada", {"balance": 1}, raise_if_locked=False)
    txn.roll_back()
    page = client_as("viewer").get(f"/transactions/{txn.id}/").text
    assert "skipped: changed since then" in page
    assert "restored" in page


def test_a_stuck_transaction_shows_its_error_and_its_next_try(stuck, client_as):
    for path in ("/transactions/stuck/", f"/transactions/{stuck.id}/"):
        page = client_as("viewer").get(path).text
        assert "poisoned" in page
        assert "next attempt" in page.lower()


def test_a_lock_tells_its_holder_and_who_waits(txn, accounts, client_as):
    waiter = open_transaction(accounts)
    ada = Document.objects.get(collection="accounts", key="ada")
    LockWait.objects.create(transaction_id=waiter.id, document=ada, mode="exclusive")
    page = client_as("viewer").get("/transactions/locks/?collection=accounts&key=ada").text
    assert f"transaction {txn.id}" in page
    assert "1 waiting" in page
    assert f'href="/transactions/{waiter.id}/"' in page
    assert "accounts/</span>grace" not in page


def test_a_lock_without_a_transaction_is_called_orphaned(txn, client_as):
    rows = Row.objects.filter(pk=txn.id)
    rows.update(status="completed", finished_at=database_now())
    assert "orphaned" in client_as("viewer").get("/transactions/locks/").text


def test_history_is_filtered_by_outcome_and_time(accounts, client_as):
    done, gone = open_transaction(accounts), open_transaction(accounts)
    done.complete()
    gone.roll_back()
    client = client_as("viewer")
    page = client.get("/transactions/history/?status=rolled_back&since=1h").text
    assert f"/transactions/{gone.id}/" in page
    assert f"/transactions/{done.id}/" not in page
    assert "No transactions match" in client.get("/transactions/history/?until=1h").text
    assert client.get("/transactions/history/?since=never").status_code == 400


def test_the_active_curator_is_shown_with_what_it_mended(client_as):
    HeldLease.take("curator", "host:1", 3600, name="first")
    HeldLease.take("curator/first", "host:1", 3600, repaired={"old events": 3})
    HeldLease.take("curator/second", "host:2", 3600)
    record("curator.repaired", "curator:first", repair="orphaned locks", count=2)
    page = client_as("viewer").get("/transactions/curators/").text
    assert "old events <strong>3</strong>" in page
    assert "orphaned locks <strong>2</strong>" in page
    assert page.index("On standby") < page.index("second")


@pytest.mark.parametrize("action", ACTIONS)
def test_an_action_says_what_it_does_before_it_is_done(action, stuck, client_as):
    answer = client_as("admin").get(f"/transactions/{stuck.id}/{action}")
    assert answer.status_code == 200
    assert f"transaction {stuck.id}?" in answer.text
    assert "accounts/</span>ada" in answer.text
    assert Row.objects.get(pk=stuck.id).status == "stuck"


@pytest.mark.parametrize("action", ACTIONS)
def test_without_a_reason_nothing_is_done(action, stuck, client_as):
    answer = client_as("admin").post(f"/transactions/{stuck.id}/{action}", {"reason": "  "})
    assert answer.status_code == 400
    assert "Enter a reason" in answer.text
    assert Row.objects.get(pk=stuck.id).status == "stuck"


def test_an_administrator_rolls_back_with_a_reason(txn, accounts, client_as):
    url = f"/transactions/{txn.id}/roll_back"
    page = client_as("admin").post(url, {"reason": "wrong data"}, follow=True)
    assert f"Transaction {txn.id} is rolled back. Documents restored: 2." in page.text
    assert balance(accounts) == 120
    event = Event.objects.about(f"transaction:{txn.id}").get()
    assert (event.actor, event.channel) == ("admin", "browser")
    assert event.facts["reason"] == "wrong data"


def test_an_administrator_completes_with_a_reason(txn, accounts, client_as):
    url = f"/transactions/{txn.id}/complete"
    page = client_as("admin").post(url, {"reason": "checked"}, follow=True)
    assert "Its changes are kept" in page.text
    assert balance(accounts) == 90
    assert Event.objects.about(f"transaction:{txn.id}").get().facts["reason"] == "checked"


def test_a_retry_that_fails_again_says_why(stuck, client_as):
    url = f"/transactions/{stuck.id}/retry"
    page = client_as("operator").post(url, {"reason": "maybe now"}, follow=True)
    assert "Nothing was changed: the rollback failed: poisoned" in page.text
    assert Row.objects.get(pk=stuck.id).attempts == 2


def test_what_is_over_cannot_be_ended_again(txn, client_as):
    txn.complete()
    url = f"/transactions/{txn.id}/"
    client = client_as("admin")
    back = client.get(f"{url}roll_back", follow=True)
    assert back.redirect_chain == [(url, 302)]
    assert "has already ended" in back.text
    assert client.post(f"{url}roll_back", {"reason": "again"}).status_code == 409


def test_releasing_a_lock_names_the_transaction_that_ends(txn, accounts, client_as):
    lock = Lock.objects.get(document__key="ada")
    client, url = client_as("admin"), f"/transactions/locks/{lock.pk}/release"
    page = client.get(url).text
    assert "Release the lock on accounts/ada?" in page
    assert f"transaction {txn.id} of vera is rolled back" in page
    assert "is released" in client.post(url, {"reason": "it hangs"}, follow=True).text
    assert balance(accounts) == 120
    assert Event.objects.about("document:accounts/ada").get().facts["reason"] == "it hangs"
    assert client.post(url, {"reason": "again"}).status_code == 404
    back = client.get(url, follow=True)
    assert back.redirect_chain == [("/transactions/locks/", 302)]
    assert "That lock is already released." in back.text


def test_a_lock_of_a_queued_job_leads_to_the_job(txn, client_as):
    job = make_job(make_queue(), "progress", max_failures=3)
    noted = {"transaction": txn.id, "slot": 1, "slot_epoch": 1}
    AttemptTransaction.objects.create(job=job, attempt=1, **noted)
    client, link = client_as("admin"), f'<a href="/jobs/{job.pk}/">'
    url = f"/transactions/locks/{Lock.objects.first().pk}/release"
    assert f"{link}job {job.pk}</a> send-mail" in client.get("/transactions/locks/").text
    said = f"Abort the job instead: {link}send-mail {job.pk}</a>."
    assert said in client.get(url).text
    QueuedJob.objects.update(run_failures=3)
    assert f"This makes its job fail: {link}" in client.get(url).text
    QueuedJob.objects.update(status="failed", slot=None, ended_at=database_now())
    assert "is still running, so all of transaction" in client.get(url).text
    assert link not in client.get(url).text


def test_the_role_of_the_curator_is_handed_over(client_as):
    HeldLease.take("curator", "host:1", 3600, name="first")
    client, url = client_as("operator"), "/transactions/curators/hand_over"
    assert "Hand over from first?" in client.get(url).text
    client.post(url, {"reason": "upgrade"})
    assert Event.objects.get(kind="curator.handed_over").facts["reason"] == "upgrade"
    back = client.get(url, follow=True)
    assert back.redirect_chain == [("/transactions/curators/", 302)]
    assert "nothing to hand over" in back.text


@pytest.mark.parametrize("pk", [1, 10**30])
def test_what_is_not_there_is_404(pk, client_as):
    client = client_as("admin")
    for path in ("", "roll_back", "complete", "retry"):
        assert client.get(f"/transactions/{pk}/{path}").status_code == 404
    assert client.get(f"/transactions/locks/{pk}/release").url == "/transactions/locks/"


def test_the_search_box_knows_transactions_and_documents(txn, client_as):
    client = client_as("viewer")
    assert f'href="/transactions/{txn.id}/"' in client.get(f"/search/?q={txn.id}").text
    assert 'href="/documents/accounts/ada/"' in client.get("/search/?q=accounts/ada").text
    assert 'href="/documents/accounts/"' in client.get("/search/?q=accounts").text


def test_the_raw_lists_lead_to_the_screens(txn, client_as):
    client = client_as("viewer")
    raw = client.get("/admin/allocation/transaction/").text
    assert f'href="/transactions/{txn.id}/"' in raw
    assert 'href="/documents/accounts/ada/"' in client.get("/admin/allocation/document/").text
