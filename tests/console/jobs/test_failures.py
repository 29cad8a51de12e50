"""Failures grouped by error: filters by queue and time, and actions on a whole group."""

import re
from datetime import timedelta

import pytest

from atributo_site.core.models.clock import database_now
from queues.models import QueuedJob
from tests.console.page_elements import ids_on
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def failed():
    """Make the same error in two queues, in one of them long ago."""
    mail, news = make_queue("mail"), make_queue("the news")
    long_ago = database_now() - timedelta(hours=5)
    return {
        "mail": make_job(mail, "failed", error="KeyError: 1"),
        "old": make_job(mail, "failed", error="KeyError: 2", ended_at=long_ago),
        "news": make_job(news, "failed", error="KeyError: 3"),
    }


def counts_on(page):
    return re.findall(r'<strong class="tone is-bad">(\d+)<', page.text)


@pytest.mark.parametrize(
    ("asked", "counts"),
    [
        ({}, ["3"]),
        ({"queue": "mail"}, ["2"]),
        ({"queue": "the news"}, ["1"]),
        ({"queue": "mail", "since": "1h"}, ["1"]),
        ({"until": "1h"}, ["1"]),
        ({"queue": "nowhere"}, []),
    ],
)
def test_groups_are_of_what_is_asked_for(asked, counts, failed, client_as):
    page = client_as("viewer").get("/jobs/failures/", asked)
    assert counts_on(page) == counts
    assert ("No failures match" in page.text) == (not counts)


@pytest.mark.parametrize(
    ("asked", "found"),
    [({"queue": "the news"}, {"news"}), ({"queue": "mail", "since": "1h"}, {"mail"})],
)
def test_a_group_leads_to_the_jobs_that_it_counts(asked, found, failed, client_as):
    client = client_as("viewer")
    page = client.get("/jobs/failures/", asked).text
    link = re.search(r'class="group-error"[^>]* href="([^"]+)"', page)[1].replace("&amp;", "&")
    assert ids_on(client.get(link)) == {failed[name].pk for name in found}


def test_a_group_is_deleted_after_a_page_that_names_it(failed, client_as):
    client = client_as("operator")
    page = client.get("/jobs/failures/", {"queue": "mail"}).text
    link = re.search(r'href="([^"]+)">Delete this group', page)[1].replace("&amp;", "&")
    asked = client.get(link).text
    assert "Delete 2 jobs?" in asked
    given = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', asked))
    client.post("/jobs/bulk/", {name: text.replace("&quot;", '"') for name, text in given.items()})
    assert list(QueuedJob.objects.all()) == [failed["news"]]


def test_a_group_without_a_fingerprint_leads_nowhere(failed, client_as):
    QueuedJob.objects.update(fingerprint="")
    page = client_as("operator").get("/jobs/failures/").text
    assert "fingerprint=" not in page
    assert "KeyError: 3" in page
    assert "Newest job" in page


def test_a_viewer_is_offered_no_action(failed, client_as):
    assert "this group" not in client_as("viewer").get("/jobs/failures/").text


def test_the_filter_can_be_kept_as_a_view(failed, client_as):
    client = client_as("viewer")
    given = {"screen": "jobs-failures", "name": "mail", "query": "queue=mail"}
    client.post("/views", given)
    assert 'href="/jobs/failures/?queue=mail"' in client.get("/jobs/failures/").text
