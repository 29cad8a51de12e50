"""The screens of documents: collections, keys, history, what changed between two versions."""

import re
from html import unescape

import pytest

from allocation.transactions import Client
from allocation.transactions.documents.documents import collections
from tests.factories.open_transactions import open_transaction

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def store():
    client = Client()
    for name, balance in {"ada": 120, "edsger": 45, "grace": 80}.items():
        body = {"owner": name, "balance": balance, "password": "canary"}
        client.put("accounts", name, body).raise_for_status()
    client.put("stock", "kettle", {"count": 1}).raise_for_status()
    return client


def refs_of(client, key="ada"):
    return [row["path"]["ref"] for row in client.refs("accounts", key).next()["results"]]


def first_link(page):
    return unescape(re.search(r'class="subject" href="([^"]+)"', page.text)[1])


def test_collections_are_listed_with_their_size(store, client_as):
    store.delete("stock", "kettle")
    page = client_as("viewer").get("/documents/").text
    assert re.search(r"accounts</a>.*?number\">3<", page, re.DOTALL)
    assert "none left" in page


def test_an_empty_store_names_the_first_command(client_as):
    assert "manage.py documents put" in client_as("viewer").get("/documents/").text


def test_collections_come_in_pages(store):
    first, after = collections(limit=1)
    assert ([each.name for each in first], after) == (["accounts"], "accounts")
    second, after = collections(after="accounts", limit=1)
    assert ([each.name for each in second], after) == (["stock"], None)
    assert collections(after="stock") == ([], None)


def test_keys_come_in_pages(client_as):
    client = Client()
    for number in range(55):
        client.put("many", f"key-{number:02}", number)
    viewer = client_as("viewer")
    page = viewer.get("/documents/many/").text
    following = re.search(r'rel="next" href="([^"]+)"', page)[1]
    page = viewer.get(f"/documents/many/{following}").text
    assert re.findall(r">(key-\d\d)<", page) == [f"key-{number}" for number in range(50, 55)]
    back = re.search(r'rel="prev" href="([^"]+)"', page)[1]
    assert ">key-00<" in viewer.get(f"/documents/many/{back.replace('&amp;', '&')}").text


def test_a_query_finds_documents_in_the_order_asked_for(store, client_as):
    page = client_as("viewer").get("/documents/accounts/?q=balance:>50&sort=balance:desc").text
    assert re.findall(r'class="subject"[^>]*>(\w+)<', page) == ["ada", "grace"]


@pytest.mark.parametrize("query", ["q=(", "sort=balance:up", "q=x:1&offset=-1", "offset=9999999"])
def test_a_query_that_cannot_be_read_is_explained(query, store, client_as):
    answer = client_as("viewer").get(f"/documents/accounts/?{query}")
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


def test_a_query_that_finds_nothing_says_so(store, client_as):
    page = client_as("viewer").get("/documents/accounts/?q=balance:>5000").text
    assert "No documents match" in page


def test_the_last_two_versions_are_compared(store, client_as):
    store.put("accounts", "ada", {"owner": "ada", "balance": 2**60 + 1})
    page = client_as("viewer").get("/documents/accounts/ada/").text
    assert re.search(rf"balance</code>.*?120</pre>.*?{2**60 + 1}</pre>", page, re.DOTALL)


def test_any_two_versions_are_compared(store, client_as):
    store.put("accounts", "ada", {"balance": 2})
    store.put("accounts", "ada", {"balance": 3})
    newest, _, oldest = refs_of(store)
    page = client_as("viewer").get(f"/documents/accounts/ada/?from={newest}&to={oldest}").text
    assert re.search(r"balance</code>.*?3</pre>.*?120</pre>", page, re.DOTALL)


def test_versions_that_are_not_kept_are_not_compared(store, client_as):
    store.put("accounts", "ada", {"balance": 2})
    answer = client_as("viewer").get("/documents/accounts/ada/?from=none&to=never")
    assert answer.status_code == 200
    assert "is no longer kept" in answer.text


def test_what_is_not_committed_is_not_the_value(store, client_as):
    txn = open_transaction(store, owner="vera")
    txn.put("accounts", "ada", {"balance": 1})
    txn.put("accounts", "new", {"balance": 2})
    client = client_as("viewer")
    page = client.get("/documents/accounts/ada/").text
    assert 'balance: </span><span class="plain">120<' in page
    assert "not committed" in page
    assert f"transaction {txn.id}" in page
    assert "It is not committed yet" in client.get("/documents/accounts/new/").text
    assert ">new<" not in client.get("/documents/accounts/").text


def test_a_deleted_document_shows_its_history(store, client_as):
    store.delete("accounts", "ada", ref=refs_of(store)[0])
    page = client_as("viewer").get("/documents/accounts/ada/").text
    assert "Deleted." in page
    assert '<span class="chip">deleted</span>' in page


def test_secrets_stay_hidden_everywhere(store, client_as):
    store.put("accounts", "ada", {"password": "canary-2"})
    for path in ("", "accounts/", "accounts/?q=balance:>1", "accounts/ada/"):
        assert "canary" not in client_as("admin").get(f"/documents/{path}").text


@pytest.mark.parametrize("name", ["a/b", "ä ö?#&", "%2F", "x+y", "'\"<b>"])
def test_any_name_leads_to_its_page(name, client_as):
    Client().put(name, name, {"v": 1}).raise_for_status()
    client = client_as("viewer")
    collection = client.get(first_link(client.get("/documents/")))
    assert 'v: </span><span class="plain">1<' in client.get(first_link(collection)).text


@pytest.mark.parametrize("path", ["none/none/", "accounts/none/"])
def test_what_is_not_there_is_404(path, store, client_as):
    assert client_as("viewer").get(f"/documents/{path}").status_code == 404
