"""Jobs by the time of their end, as a click on a chart lists them."""

from datetime import timedelta

import pytest

from atributo_site.core.models.clock import database_now
from tests.console.page_elements import ids_on
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def ended():
    """Make jobs by the hours since their end; one has not ended."""
    queue, now = make_queue(), database_now()
    make_job(queue)
    return {
        hours: make_job(queue, word, ended_at=now - timedelta(hours=hours)).pk
        for hours, word in ((1, "failed"), (3, "complete"), (50, "complete"))
    }


@pytest.mark.parametrize(
    ("query", "hours"),
    [
        ("since=2h", [1]),
        ("since=1d", [1, 3]),
        ("until=2h", [3, 50]),
        ("since=3d&until=2h", [3, 50]),
        ("since=1d&state=complete", [3]),
        ("since=3d&q=mail", [1, 3, 50]),
        ("since=30m", []),
    ],
)
def test_only_what_ended_then_is_listed(query, hours, ended, client_as):
    assert ids_on(client_as("viewer").get(f"/jobs/?{query}")) == {ended[each] for each in hours}


def test_only_so_many_of_the_last_are_looked_at(ended, client_as, monkeypatch):
    monkeypatch.setattr("queues.queries.search.LOOKED_THROUGH", 2)
    assert ids_on(client_as("viewer").get("/jobs/?since=30d")) == {ended[1], ended[3]}


def test_the_form_keeps_its_moments(ended, client_as):
    page = client_as("viewer").get("/jobs/?since=2h&until=30m&state=failed&q=mail").text
    form = page.split('class="job-search"')[1].split("</form>")[0]
    assert 'name="since" value="2h"' in form
    assert 'name="until" value="30m"' in form
    assert form.count('name="since"') == form.count('name="until"') == form.count('name="q"') == 1
    assert 'type="hidden" name="state" value="failed"' in form


@pytest.mark.parametrize("path", ["/jobs/", "/jobs/failures/"])
def test_what_is_no_moment_is_named_and_nothing_is_listed(path, ended, client_as):
    page = client_as("viewer").get(path, {"since": "yesterday", "q": "mail"})
    assert page.status_code == 400
    assert "&#x27;yesterday&#x27; is neither a time nor an age such as 90m, 2h or 7d." in page.text
    assert 'name="since" value="yesterday"' in page.text
    assert ids_on(page) == set()
