"""The search finds pages that exist by parts of their names, grouped by kind."""

import re
from html import unescape

import pytest

from allocation.atributo import Atributo
from allocation.transactions import Client
from allocation.transactions.models import Transaction
from atributo_site.core.events import Actor, acting, record
from pools.models import Pool
from queues.models import QueuedJob
from tests.factories.jobs import make_job, make_queue, make_script
from tests.factories.open_transactions import open_transaction

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(client_as):
    with Atributo() as ao, acting(Actor("grace", "browser")):
        ao.available("barbara")
    record("job.failed", "job:7")
    return client_as("viewer")


def hits(client, text):
    """Return the addresses that a search leads to."""
    page = client.get("/search/", {"q": text}).text
    lists = re.findall(r'<ul class="hits">(.*?)</ul>', page, re.DOTALL)
    return [unescape(found) for found in re.findall(r'<a href="([^"]+)"', "".join(lists))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("barbara", ["/instances/barbara/", "/events/?subject=instance%3Abarbara"]),
        ("instance:barbara", ["/instances/barbara/", "/events/?subject=instance%3Abarbara"]),
        ("grace", ["/events/?actor=grace"]),
        ("job.failed", ["/events/?kind=job.failed"]),
        ("zzzz<b>", []),
    ],
)
def test_a_name_finds_what_there_is_and_nothing_else(client, text, found):
    assert hits(client, text) == found


@pytest.mark.parametrize("text", ["barbara", "grace", "job.failed"])
def test_no_hit_leads_to_an_empty_list(client, text):
    assert all("No events match" not in client.get(url).text for url in hits(client, text))


def test_nothing_found_is_said(client):
    assert "No results" in client.get("/search/?q=zzzz").text


@pytest.fixture
def site(client_as):
    """Make one thing of each kind whose name holds "ail", and not at its beginning."""
    make_script()
    make_job(make_queue("outgoing-mail"), "failed", error="Teapot: no mail")
    with Atributo() as ao:
        ao.available("eu-mail-3")
        ao.allocate("customer-mail-7")
    Client().put("letters", "first-mail", {})
    Client().put("accounts", "ada", {})
    open_transaction(Client(), owner="count mail")
    Pool.objects.create(name="rail", domain="mail.example.com")
    return client_as("admin")


def test_a_part_of_a_name_finds_it(site):
    script, letter = "/services/mailer/-/scripts/send-mail/", "/documents/letters/first-mail/"
    job = QueuedJob.objects.get()
    wanted = {
        "d-mail": script,
        "ailer SEND": script,
        "aile": "/services/mailer/",
        "going": "/queues/outgoing-mail/",
        "mail-3": "/instances/eu-mail-3/",
        "mail-7": "/allocations/customer-mail-7/",
        "teapot": f"/jobs/?state=failed&fingerprint={job.fingerprint}",
        "etters": "/documents/letters/",
        "st-mai": letter,
        "first-": letter,
        "letters/fi": letter,
        "ad": "/documents/accounts/ada/",
        "count": f"/transactions/{Transaction.objects.get().pk}/",
        "example.com": "/pools/watched/rail/",
        str(job.pk)[:9]: f"/jobs/{job.pk}/",
        str(job.pk): f"/jobs/{job.pk}/",
        "lock": "/transactions/locks/",
    }
    found = {text: hits(site, text) for text in wanted}
    assert {text: urls for text, urls in found.items() if wanted[text] not in urls} == {}


def test_what_is_called_exactly_so_comes_first(site):
    make_queue("mail")
    assert hits(site, "mail")[0] == "/queues/mail/"


def test_each_page_is_found_once(site):
    found = hits(site, "mail")
    assert len(found) == len(set(found)) > 8


def test_only_administrators_find_users(site, client_as):
    assert "Users" in site.get("/search/?q=admi").text
    assert "Users" not in client_as("viewer").get("/search/?q=admi").text


def test_only_tabs_that_a_person_may_open_are_found(client_as):
    assert hits(client_as("viewer"), "lookup") == []
    assert hits(client_as("operator"), "lookup") == ["/pools/look-up/"]


def test_the_box_asks_for_results_alone(site):
    headers = {"HX-Request": "true", "HX-Target": "suggestions"}
    found = site.get("/search/?q=mail", headers=headers).text
    assert 'role="option"' in found and "<h1>" not in found


def test_more_rows_ask_no_more_questions(site, django_assert_max_num_queries):
    for number in range(30):
        make_queue(f"mail-{number}")
        Client().put("letters", f"mail-{number}", {})
    with django_assert_max_num_queries(45):
        assert len(hits(site, "mail")) < 90
