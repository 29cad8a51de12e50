"""The transactions screens with few and many rows, and with HTML in every text."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from allocation.transactions import Client, Transaction
from allocation.transactions.models import Document, Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from tests.console.page_elements import INJECTION, Elements
from tests.factories.finished_transactions import finished_transactions
from tests.factories.open_transactions import open_transaction
from tests.factories.statistics import analyse
from tests.transactions.engine.plans import plan_of

pytestmark = pytest.mark.django_db(transaction=True)

PATHS = [
    "/transactions/",
    "/transactions/stuck/",
    "/transactions/locks/",
    "/transactions/history/",
    "/transactions/history/?status=completed&since=1h",
    "/transactions/curators/",
    "/transactions/{txn}/",
    "/transactions/{txn}/roll_back",
    "/transactions/{txn}/complete",
    "/transactions/{stuck}/retry",
    "/transactions/locks/{lock}/release",
    "/transactions/curators/hand_over",
    "/documents/",
    "/documents/things/",
    "/documents/things/?q=v:>=0",
    "/documents/things/one/",
    "/search/?q=things/one",
]


@pytest.fixture
def few():
    """Make one object of each kind and return its address."""
    client = Client()
    client.put("things", "one", {"v": 0}).raise_for_status()
    txn, stuck = open_transaction(client), open_transaction(client)
    txn.put("things", "one", {"v": 1})
    Row.objects.filter(pk=stuck.id).update(status="stuck", error="broken")
    HeldLease.take("curator", "host:1", 600, name="first")
    return {"txn": txn.id, "stuck": stuck.id, "lock": Lock.objects.get().pk}


def more(number):
    """Make a few dozen more of everything that a screen lists."""
    client = Client()
    writer = Transaction.attach(Row.objects.earliest("pk").pk)
    for count in range(number):
        waiter, stuck = open_transaction(client), open_transaction(client)
        writer.put("things", f"more-{count}", {"v": count})
        document = Document.objects.get(key="one")
        LockWait.objects.create(transaction_id=waiter.id, document=document, mode="shared")
        Row.objects.filter(pk=stuck.id).update(status="stuck", error="broken")
        client.put(f"collection-{count}", "key", count)
        client.put("things", "one", {"v": count}, raise_if_locked=False)
        record("curator.repaired", "curator:first", repair="old events", count=count)
        record("transaction.stuck", f"transaction:{writer.id}", error="broken")
        HeldLease.take(f"curator/c{count}", "host", 600)
    finished_transactions(number)


def queries(client, path):
    with CaptureQueriesContext(connection) as asked:
        assert client.get(path).status_code == 200
    return len(asked)


@pytest.mark.only_on("sqlite")  # every address is compared on both elsewhere
def test_more_rows_need_no_more_queries(few, client_as):
    client = client_as("admin")
    paths = [path.format(**few) for path in PATHS]
    for path in paths:
        client.get(path)
    before = {path: queries(client, path) for path in paths}
    more(30)
    assert {path: queries(client, path) for path in paths} == before
    searches = {path for path in paths if path.startswith("/search/")}
    assert max(count for path, count in before.items() if path not in searches) <= 20
    assert max(before[path] for path in searches) <= 32  # it looks at fourteen kinds of things


def plan(rows, column):
    analyse(rows.model)
    return plan_of(rows.order_by(column)[:51])


def test_lists_are_read_along_their_indexes(few):
    finished_transactions(2000)
    assert "transaction_unfinished" in plan(Row.objects.unfinished(), "expires_at")
    assert "transaction_finished" in plan(Row.objects.finished(), "-finished_at")


@pytest.fixture
def injected():
    """Put HTML into every text that people can enter."""
    client = Client()
    body = {INJECTION: INJECTION, "list": [INJECTION]}
    client.put(INJECTION, INJECTION, body).raise_for_status()
    txn = open_transaction(client, owner=INJECTION)
    txn.put(INJECTION, INJECTION, {INJECTION: INJECTION * 2})
    stuck = open_transaction(client, owner=INJECTION)
    Row.objects.filter(pk=stuck.id).update(status="stuck", error=INJECTION, reason=INJECTION)
    done = open_transaction(client, owner=INJECTION)
    done.complete()
    Row.objects.filter(pk=done.id).update(reason=INJECTION, error=INJECTION)
    HeldLease.take("curator", INJECTION, 600, name=INJECTION)
    HeldLease.take(f"curator/{INJECTION}", INJECTION, 600, repaired={INJECTION: 1})
    HeldLease.take(f"curator/x{INJECTION}", INJECTION, 600)
    record("curator.repaired", f"curator:{INJECTION}", repair=INJECTION, count=INJECTION)
    record("x", f"transaction:{txn.id}", **{INJECTION: INJECTION})
    return {"txn": txn.id, "stuck": stuck.id, "done": done.id, "lock": Lock.objects.get().pk}


def test_no_text_is_taken_for_html(injected, client_as):
    client = client_as("admin")
    document = Document.objects.get().get_absolute_url()
    collection = document.rstrip("/").rpartition("/")[0] + "/"
    named = ["/transactions/{done}/", *PATHS[:12]]
    paths = [path.format(**injected) for path in named]
    for path in [*paths, "/documents/", document, collection, f"{collection}?q={INJECTION}"]:
        page = Elements(client.get(path).text)
        assert "injected" not in page.ids
        assert page.handlers == []
        assert "x" not in page.images


def test_a_reason_is_not_taken_for_html(injected, client_as):
    url = f"/transactions/{injected['txn']}/roll_back"
    page = client_as("admin").post(url, {"reason": INJECTION}, follow=True)
    assert "injected" not in Elements(page.text).ids
    assert Row.objects.get(pk=injected["txn"]).status == "rolled_back"
