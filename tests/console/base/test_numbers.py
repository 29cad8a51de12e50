"""A number that is a link leads to a list of exactly as many; what is counted is said."""

import re
from datetime import timedelta
from html import unescape

import pytest

from atributo_site.core.models.clock import database_now
from atributo_site.demo import history
from queues.models import MinuteCount
from queues.queries.counters import remember
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db
PAGES = ["/", "/queues/", "/queues/mail/", "/queues/other/", "/jobs/", "/jobs/failures/"]
# A link to a list of jobs whose text begins with a number, such as 3, 3 delayed or 3 jobs failed.
NUMBER = re.compile(r'<a[^>]*href="(/jobs/\?[^"]*)"[^>]*>\s*([\d,]+)(?![\d.,]* ?(?:s|min|h|d) )')


@pytest.fixture
def site(db):
    """Make jobs in every state, more failed attempts than failed jobs, and old failures."""
    now = database_now()
    for name, failed in (("mail", 3), ("other", 1)):
        queue = make_queue(name)
        for _ in range(failed):
            make_job(queue, "failed", error="Odd: a teapot")
        make_job(queue, "failed", error="Old: one", ended_at=now - timedelta(hours=5))
        for hours in (-1, -2, 1):
            make_job(queue, due_at=now + timedelta(hours=hours))
        make_job(queue, "complete")
        counts = {"started": 80, "complete": 5, "failed": 75, "retried": 70, "pushed": 80}
        remember(name, {now.replace(second=0, microsecond=0): counts})


def listed(client, address):
    """Return the number of jobs on the list, and on its current tab."""
    page = client.get(address).text
    tab = re.search(r'aria-current="page">[^<]*<span class="count-of">([\d,]+)', page)[1]
    rows = len(set(re.findall(r'class="job-id" href="/jobs/(\d+)/"', page)))
    return rows, int(tab)


@pytest.mark.parametrize("path", PAGES)
def test_every_number_that_is_a_link_is_the_length_of_its_list(path, site, client_as):
    client = client_as("admin")
    links = {(unescape(link), int(count.replace(",", ""))) for link, count in _links(client, path)}
    wrong = [each for each in links if listed(client, each[0]) != (each[1], each[1])]
    assert wrong == []
    assert links or path in {"/jobs/", "/jobs/failures/"}


def _links(client, path):
    return NUMBER.findall(client.get(path).text)


def test_jobs_and_attempts_are_told_apart(site, client_as):
    page = client_as("viewer").get("/queues/mail/").text
    assert "75 attempts failed" in page and "3 jobs failed" in page
    rows = client_as("viewer").get("/queues/").text
    assert "75 attempts failed" in rows and "Jobs failed" in rows


def test_the_number_of_a_group_is_the_length_of_its_list(site, client_as):
    client = client_as("viewer")
    page = client.get("/jobs/failures/").text
    groups = re.findall(
        r'class="group-error"[^>]*href="([^"]+)".*?<strong class="tone is-bad">(\d+)<', page, re.S
    )
    assert len(groups) == 2
    for link, count in groups:
        assert listed(client, unescape(link)) == (int(count), int(count))


def test_the_past_of_the_demo_promises_no_job_that_is_not_there(db):
    for name in history.QUEUES:
        make_queue(name)
    history.seed()
    sums = MinuteCount.objects.values_list("failed", "retried")
    assert any(failed for failed, _ in sums)
    assert all(failed == retried for failed, retried in sums)
