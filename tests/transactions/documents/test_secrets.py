"""What is masked for somebody cannot be found out by searching either."""

import json

import pytest
from django.apps import apps

from allocation.transactions import Transaction
from allocation.transactions.documents.listing import matching_documents
from allocation.transactions.documents.search import searched
from allocation.transactions.errors import SecretField
from allocation.transactions.models import Document

pytestmark = pytest.mark.django_db(transaction=True)
PROBES = [
    {"query": "password:c*"},
    {"query": "age:>1 AND NOT (login.api_key:*)"},
    {"query": "tokens.0:x"},
    {"query": "value.password:>b"},
    {"query": "*", "sort": "password:desc"},
    {"query": "*", "sort": "age,credentials.user"},
    {"query": "x-api-key:c*"},
    {"query": "login.accessKeyId:*"},
    {"query": "*", "sort": "pwd"},
]


@pytest.fixture
def secret(client):
    value = {"age": 36, "password": "canary", "login": {"api_key": "canary"}}
    client.put("people", "ada", value).raise_for_status()
    client.put("people", "ada", value).raise_for_status()
    return value


@pytest.mark.parametrize("words", PROBES, ids=str)
def test_a_search_without_secrets_refuses_to_look(secret, words):
    with pytest.raises(SecretField):
        matching_documents(
            "people", **{"sort": "", "limit": 5, "offset": 0, **words}, secrets=False
        )


@pytest.mark.parametrize("words", PROBES, ids=str)
def test_a_viewer_cannot_probe(secret, rest_as, client_as, words):
    answer = rest_as("viewer").get("/api/v1/collections/people", words)
    assert (answer.status_code, answer.json()["code"]) == (403, "secret_field")
    asked = {"q": words["query"], "sort": words.get("sort", "")}
    page = client_as("viewer").get("/documents/people/", asked)
    assert page.status_code == 400 and "is masked" in page.text


URL = "postgresql://site:canary@db/site"
GUESSES = ['url:"{}"', "url:postgresql://site:c*", "url:>=postgresql://site:b", "url:<=z"]
GUESSES += ["links.0:postgresql*", "NOT url:x"]


@pytest.fixture
def addresses(client):
    client.put("places", "1-secret", {"url": URL, "links": [URL]}).raise_for_status()
    open_one = {"url": URL.replace(":canary", ""), "links": ["none"]}
    client.put("places", "2-open", open_one).raise_for_status()


@pytest.mark.parametrize("guess", GUESSES)
def test_a_password_in_an_address_cannot_be_guessed(addresses, guess):
    """The answer is the same for any password."""
    answers = []
    for password in ("canary", "zebra", "aa"):
        value = {"url": URL.replace("canary", password), "links": [URL]}
        Document.objects.filter(key="1-secret").update(value=value)
        rows = searched(Document.objects.all(), guess.format(URL), "url:desc", secrets=False)
        answers.append([row.key for row in rows])
    assert answers[0] == answers[1] == answers[2]


def test_addresses_are_sorted_without_their_passwords(addresses):
    for sort in ("url:asc", "url:desc"):
        rows = searched(Document.objects.all(), "*", sort, secrets=False)
        assert [row.key for row in rows] == ["2-open", "1-secret"]


def test_who_may_read_secrets_finds_addresses(addresses):
    found_ones = searched(Document.objects.all(), "url:postgresql://site:c*", "url")
    assert [row.key for row in found_ones] == ["1-secret"]
    is_open = searched(Document.objects.all(), "url:postgresql://site@*", secrets=False)
    assert [row.key for row in is_open] == ["2-open"]


PATHS = ["people", "people?query=age:36", "people/ada", "people/ada/refs"]


@pytest.mark.parametrize("path", PATHS)
def test_a_viewer_reads_masked_values_and_an_operator_what_is_stored(secret, rest_as, path):
    address = f"/api/v1/collections/{path}"
    assert "canary" not in rest_as("viewer").get(address).text
    assert "canary" in rest_as("operator").get(address).text


def test_a_viewer_reads_a_masked_journal(secret, rest_as, client):
    txn = Transaction(client)
    txn.put("people", "ada", {"age": 37})
    address = f"/api/v1/transactions/{txn.id}"
    assert "canary" not in rest_as("viewer").get(address).text
    (line,) = rest_as("operator").get(address).json()["journal"]
    assert line["before_value"] == secret


@pytest.mark.parametrize("model", ["document", "documentversion", "journalentry"])
def test_raw_lists_hide_values(secret, client_as, client, model):
    Transaction(client).put("people", "ada", {"age": 37})
    viewer = client_as("viewer")
    pages = [viewer.get(f"/admin/allocation/{model}/{pk}/change/") for pk in rows_of(model)]
    assert {page.status_code for page in pages} == {200}
    assert "canary" not in json.dumps([page.text for page in pages])


def rows_of(model):
    return apps.get_model("allocation", model).objects.values_list("pk", flat=True)
