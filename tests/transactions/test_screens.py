"""The screens of transactions, locks, curators and documents."""

import pytest

from allocation.leases import HeldLease
from allocation.models import Event
from allocation.transactions import Transaction
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row

pytestmark = pytest.mark.django_db(transaction=True)
PAGES = ["", "stuck/", "history/", "locks/", "curators/"]


@pytest.fixture
def txn(store):
    txn = Transaction(store, owner="importer")
    txn.put("c", "old", {"v": 1, "password": "canary"})
    txn.delete("c", "doomed")
    return txn


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
@pytest.mark.parametrize("page", PAGES)
def test_every_page_answers_every_role_with_and_without_rows(client_as, txn, role, page):
    assert client_as(role).get(f"/transactions/{page}").status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_empty_pages_say_what_to_do(client_as, page):
    assert 'class="empty"' in client_as("viewer").get(f"/transactions/{page}").text


def test_an_open_transaction_is_listed_with_its_owner(client_as, txn):
    page = client_as("viewer").get("/transactions/").text
    assert "importer" in page and f"/transactions/{txn.id}/" in page


def test_a_journal_shows_what_changed_and_hides_secrets(client_as, txn):
    page = client_as("viewer").get(f"/transactions/{txn.id}/").text
    assert "diff-removed" in page and "diff-added" in page
    assert "canary" not in page


def test_a_viewer_sees_no_buttons_and_may_not_press_them(client_as, txn):
    viewer = client_as("viewer")
    assert "Roll back transaction" not in viewer.get(f"/transactions/{txn.id}/").text
    assert viewer.post(f"/transactions/{txn.id}/roll_back", {"reason": "x"}).status_code == 403
    lock = Lock.objects.first()
    assert viewer.post(f"/transactions/locks/{lock.pk}/release", {}).status_code == 403


def test_an_operator_rolls_back_with_a_reason(client_as, store, txn):
    operator = client_as("operator")
    page = operator.post(f"/transactions/{txn.id}/roll_back", {"reason": "wrong"}, follow=True)
    assert "is rolled back" in page.text
    assert store.get("c", "old").json == {"v": 0}
    event = Event.objects.about(f"transaction:{txn.id}").get()
    assert (event.actor, event.channel, event.facts["reason"]) == ("operator", "browser", "wrong")


def test_without_a_reason_nothing_is_done(client_as, txn):
    page = client_as("operator").post(f"/transactions/{txn.id}/complete", {}, follow=True)
    assert "Not done" in page.text
    assert Row.objects.get(pk=txn.id).status == "active"


def test_a_transaction_is_completed_as_it_stands(client_as, store, txn):
    client_as("operator").post(f"/transactions/{txn.id}/complete", {"reason": "fine"})
    assert store.get("c", "doomed").status_code == 404
    retried = client_as("operator").post(
        f"/transactions/{txn.id}/retry", {"reason": "again"}, follow=True
    )
    assert "Not done" in retried.text


def test_a_lock_is_released_with_a_reason(client_as, txn):
    lock = Lock.objects.first()
    url = f"/transactions/locks/{lock.pk}/release"
    assert "released" in client_as("operator").post(url, {"reason": "stale"}, follow=True).text
    assert not Lock.objects.exists()
    assert "Not done" in client_as("operator").post(url, {"reason": "x"}, follow=True).text


def test_the_active_curator_hands_over(client_as):
    HeldLease.take("curator", "host:1", 60, name="first")
    operator = client_as("operator")
    assert "first" in operator.get("/transactions/curators/").text
    operator.post("/transactions/curators/hand_over", {"reason": "upgrade"})
    assert HeldLease.take("curator", "host:2", 60) is not None


def test_documents_are_found_and_shown_with_their_history(client_as, store, txn):
    viewer = client_as("viewer")
    assert "doomed" in viewer.get("/documents/?collection=c").text
    assert "/documents/c/old/" in viewer.get("/documents/?collection=c&query=v:0").text
    assert viewer.get("/documents/?collection=c&query=(").status_code == 400
    page = viewer.get("/documents/c/old/").text
    assert f"/transactions/{txn.id}/" in page and "diff-added" in page
    assert "canary" not in page
    assert viewer.get("/documents/c/none/").status_code == 404
    assert viewer.get("/transactions/999999/").status_code == 404


def test_a_value_is_never_markup(client_as, store):
    store.put("c", "<script>", {"v": "<script>alert(1)</script>"})
    for url in ("/documents/", "/documents/?collection=c", "/documents/c/%3Cscript%3E/"):
        assert "<script>alert" not in client_as("viewer").get(url).text
