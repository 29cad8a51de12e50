"""The page of a job shows the last log lines of an attempt, the page of the log all."""

import re

import pytest

from queues.models import RunLog
from queues.queries.presenters import attempt_dicts
from tests.console.page_elements import INJECTION, Elements
from tests.factories.jobs import make_job, make_queue, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def job():
    return make_job(make_queue(), "failed", error="E: 1", attempt=2)


def lines_on(page):
    return re.findall(r"</span></span><span>([^<]+)</span></li>", page)


def test_lines_that_are_left_out_are_a_link_away(job, client_as):
    make_run(job, 1, lines=[f"line {number}" for number in range(203)])
    make_run(job, 2)
    client = client_as("viewer")
    page = client.get(f"/jobs/{job.pk}/").text
    assert len(lines_on(page)) == 200
    assert "3 earlier lines are hidden" in page
    link = re.search(r'href="([^"]+)">full log of attempt 1', page)[1]
    assert lines_on(client.get(link).text) == [f"line {number}" for number in range(203)]


def test_the_newest_attempt_is_shown_unless_one_is_named(job, client_as):
    make_run(job, 1, lines=["first"])
    make_run(job, 2, lines=["second"])
    client = client_as("viewer")
    assert lines_on(client.get(f"/jobs/{job.pk}/log").text) == ["second"]
    assert lines_on(client.get(f"/jobs/{job.pk}/log?attempt=1").text) == ["first"]


@pytest.mark.parametrize("attempt", ["7", "x", "9" * 30, "-1"])
def test_an_attempt_that_is_none(attempt, job, client_as):
    answer = client_as("viewer").get(f"/jobs/{job.pk}/log", {"attempt": attempt})
    assert answer.status_code == 404
    assert f"There is no attempt {attempt} of job {job.pk}." in answer.text


def test_a_job_that_never_ran_has_no_line(job, client_as):
    assert "No log lines" in client_as("viewer").get(f"/jobs/{job.pk}/log").text


def test_a_line_names_its_level(job, client_as):
    make_run(job, 2, lines=["careful"])
    RunLog.objects.update(level="warning")
    client = client_as("viewer")
    for path in (f"/jobs/{job.pk}/", f"/jobs/{job.pk}/log"):
        assert '<span class="level">warning</span>' in client.get(path).text


def test_no_line_is_taken_for_html(job, client_as):
    make_run(job, 2, lines=[INJECTION])
    page = Elements(client_as("viewer").get(f"/jobs/{job.pk}/log").text)
    assert "injected" not in page.ids
    assert page.handlers == []


def test_the_newest_attempt_keeps_its_lines_beside_those_of_many(job):
    make_run(job, 1, lines=[f"old {number}" for number in range(5000)])
    make_run(job, 2, lines=["new"])
    old, new = attempt_dicts(job)
    assert [line["text"] for line in new["log"]] == ["new"]
    assert (old["log"][0]["text"], old["log"][-1]["text"]) == ("old 1", "old 4999")
