"""The list of jobs: states, search, failures by error, bulk actions."""

import json
import re
import shlex
from datetime import timedelta
from html import unescape

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.logic.lifecycle import ABORTED, EXPIRED
from queues.models import QueuedJob
from queues.queries.search import search
from queues.queries.states import STATES
from tests.console.page_elements import INJECTION, Elements, ids_on
from tests.factories.jobs import blocked_job, make_job, make_queue, make_script, paused_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def jobs():
    """Make one job in each state, by the word of the state."""
    queue = make_queue()
    later = database_now() + timedelta(hours=1)
    return {
        "waiting": make_job(queue),
        "delayed": make_job(queue, due_at=later),
        "paused": paused_job(queue),
        "blocked": blocked_job(queue),
        "running": make_job(queue, "progress"),
        "complete": make_job(queue, "complete"),
        "failed": make_job(queue, "failed", error="ValueError: no 7"),
        "aborted": make_job(queue, "failed", error=ABORTED, aborted_at=database_now()),
        "expired": make_job(queue, "failed", error=EXPIRED, expired_at=database_now()),
    }


@pytest.mark.parametrize("state", STATES)
def test_each_tab_shows_its_state(state, jobs, client_as):
    assert ids_on(client_as("viewer").get("/jobs/", {"state": state})) == {jobs[state].pk}


def test_tabs_have_counts(jobs, client_as):
    page = client_as("viewer").get("/jobs/").text
    assert re.findall(r'count-of">([^<]+)<', page) == ["9", *["1"] * 9]


def test_what_was_aborted_is_no_failure_of_its_script(jobs, client_as):
    page = client_as("viewer").get("/jobs/failures/").text
    assert "no 7" in page
    assert ABORTED not in page


@pytest.mark.only_on("sqlite")  # PostgreSQL reads a small table at once
@pytest.mark.parametrize("state", ["failed", "aborted", "expired"])
def test_an_index_counts_each_kind_of_ending(state, jobs):
    plan = search(state=state, now=database_now()).jobs.explain()
    assert f"job_{state}" in plan


@pytest.fixture
def varied():
    make_script(schema={"properties": {"pin": {"x-secret": True}}})
    mail, other = make_queue("mail"), make_queue("other queue")
    return {
        "mail": make_job(mail, data={"to": "Ada", "n": 12345678901234567890}),
        "other": make_job(other, mount="/x", script="scan", pushed_by="vera"),
        "failed": make_job(mail, "failed", error='Timeout: "db" timed out', mount="/x/y"),
        "secret": make_job(mail, data={"password": "canary-77", "pin": "canary-78", "to": "Bob"}),
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("queue:mail", {"mail", "failed", "secret"}),
        ('queue:"other queue"', {"other"}),
        ("script:scan", {"other"}),
        ("script:/x/scan", {"other"}),
        ("script:/x/y/send-mail", {"failed"}),
        ('error:"timed out"', {"failed"}),
        ("timed", {"failed"}),
        ("by:vera", {"other"}),
        ("data:ada", {"mail"}),
        ("data.to:ada", {"mail"}),
        ("data.to:12345", set()),
        ("data:12345678901234567890", {"mail"}),
        ("data:bob queue:mail", {"secret"}),
        ("data:canary", set()),
        ("data.password:canary", set()),
        ("data.pin:canary", set()),
        ("id:12", set()),
        ("id:nonsense", set()),
        ("nothing-like-this", set()),
        ('"', {"failed"}),
    ],
)
def test_the_search_box_understands(text, found, varied, client_as):
    page = client_as("viewer").get("/jobs/", {"q": text})
    assert ids_on(page) == {varied[name].pk for name in found}


SEARCHES = [
    "q=error:timed",
    "q=queue:mail&state=waiting",
    "q=data.to:ada",
    "q=script:/x/scan by:vera",
    "state=failed",
    "state=aborted",
    "since=1h",
    "state=failed&until=2h",
    "fingerprint=nowhere",
    "upto=1",
    "",
]


@pytest.mark.parametrize("asked", SEARCHES)
def test_the_curl_finds_what_the_page_finds(asked, varied, client_as, rest_as):
    page = client_as("viewer").get(f"/jobs/?{asked}")
    code = re.findall(r"<code>(curl .*?)</code>", page.text)[-1]
    path = shlex.split(unescape(code))[-1].partition("testserver")[2]
    found = rest_as("viewer").get(path).json()["results"]
    assert {int(job["id"]) for job in found} == ids_on(page)


@pytest.mark.parametrize("asked", [each for each in SEARCHES if "upto" not in each])
def test_the_command_finds_what_the_page_finds(asked, varied, client_as, capsys):
    page = client_as("viewer").get(f"/jobs/?{asked}")
    code = re.findall(r"<code>manage.py (queued_jobs .*?)</code>", page.text)[-1]
    call_command(*shlex.split(unescape(code)), "--json")
    assert {int(job["id"]) for job in json.loads(capsys.readouterr().out)} == ids_on(page)


def test_a_moment_that_is_none_is_refused():
    with pytest.raises(CommandError, match="yesterday is not a time like 2030-01-31T12:00"):
        call_command("operations", "start", "retry", "--since", "yesterday")


def test_a_search_that_is_not_understood_is_refused(rest_as):
    rest = rest_as("viewer")
    assert rest.get("/api/v1/jobs?state=lost").status_code == 400
    assert rest.get("/api/v1/jobs?since=yesterday").status_code == 400


def test_an_id_finds_its_job(varied, client_as):
    pk = varied["mail"].pk
    client = client_as("viewer")
    assert ids_on(client.get("/jobs/", {"q": f"id:{pk}"})) == {pk}
    assert ids_on(client.get("/jobs/", {"q": str(pk)})) == {pk}


def test_pages_go_by_key_and_keep_the_search(client_as):
    queue = make_queue()
    all_ids = {make_job(queue, "complete").pk for _ in range(60)}
    client = client_as("viewer")
    first = client.get("/jobs/", {"state": "complete", "q": "queue:mail"})
    older = re.search(r'rel="next" href="([^"]+)"', first.text)[1].replace("&amp;", "&")
    second = client.get("/jobs/" + older)
    assert len(ids_on(first)) == 50
    assert ids_on(first) | ids_on(second) == all_ids
    assert "state=complete" in older


def test_what_no_index_answers_is_looked_for_in_a_window(client_as, monkeypatch):
    monkeypatch.setattr("queues.queries.search.LOOKED_THROUGH", 3)
    queue = make_queue()
    old = make_job(queue, "failed", error="rare")
    for _ in range(4):
        make_job(queue, "failed", error="common")
    client = client_as("viewer")
    page = client.get("/jobs/", {"q": "error:rare"})
    assert ids_on(page) == set()
    further = re.search(r'<a href="([^"]+)">Search further back', page.text)[1]
    assert ids_on(client.get("/jobs/" + further.replace("&amp;", "&"))) == {old.pk}


@pytest.mark.parametrize("path", ["/jobs/", "/jobs/?q=error:no", "/jobs/failures/"])
def test_more_rows_need_no_more_queries(path, client_as, django_assert_num_queries):
    queue = make_queue()
    make_job(queue, "failed", error="no 1")
    client = client_as("operator")
    client.get(path)
    with CaptureQueriesContext(connection) as few:
        client.get(path)
    for number in range(60):
        make_job(make_queue(f"q{number % 7}"), "failed", error=f"no {'x' * number}")
    with django_assert_num_queries(len(few)):
        client.get(path)


def test_no_text_is_taken_for_html(client_as):
    queue = make_queue(INJECTION)
    make_script(schema={"title": INJECTION})
    make_job(queue, "failed", error=INJECTION, script=INJECTION[:100], data={INJECTION: INJECTION})
    client = client_as("admin")
    for path in ("/jobs/", f"/jobs/?q={INJECTION[:40]}", "/jobs/failures/"):
        page = Elements(client.get(path).text)
        assert "injected" not in page.ids
        assert page.handlers == []
        assert "x" not in page.images


def test_equal_errors_are_one_group(client_as):
    queue = make_queue()
    for number in range(4):
        make_job(queue, "failed", error=f"ValueError: number {number}")
    make_job(queue, "failed", error="KeyError: 'a'")
    page = client_as("operator").get("/jobs/failures/").text
    assert re.findall(r'<strong class="tone is-bad">(\d+)<', page) == ["4", "1"]
    assert page.count("Retry this group") == 2


def group_of(job):
    return {"state": "failed", "fingerprint": job.fingerprint, "scope": "all"}


def test_a_group_is_retried_after_a_page_that_names_it(client_as):
    queue = make_queue()
    jobs = [make_job(queue, "failed", error=f"ValueError: {n}", run_failures=2) for n in range(7)]
    other = make_job(queue, "failed", error="KeyError: 1")
    client = client_as("operator")
    asked = client.get("/jobs/bulk/", {"action": "retry", **group_of(jobs[0])})
    assert "Retry 7 jobs?" in asked.text
    assert ids_on(asked) == {job.pk for job in jobs[2:]}
    assert QueuedJob.objects.filter(status="failed").count() == 8
    client.post("/jobs/bulk/", {"action": "retry", "sure": "yes", **group_of(jobs[0])})
    assert list(QueuedJob.objects.filter(status="failed")) == [other]
    assert QueuedJob.objects.filter(status="pending", run_failures=0, error="").count() == 7
    event = Event.objects.get(kind="jobs.retry")
    assert (event.actor, event.facts["count"]) == ("operator", 7)


def test_jobs_that_came_after_the_question_are_not_touched(client_as):
    queue = make_queue()
    old = make_job(queue, "failed", error="ValueError: 1")
    client = client_as("operator")
    asked = client.get("/jobs/bulk/", {"action": "delete", **group_of(old)})
    upto = re.search(r'name="upto" value="(\d+)"', asked.text)[1]
    new = make_job(queue, "failed", error="ValueError: 2")
    sure = {"action": "delete", "sure": "yes", "upto": upto, **group_of(old)}
    client.post("/jobs/bulk/", sure)
    assert list(QueuedJob.objects.all()) == [new]


def test_ticked_jobs_are_aborted_and_only_those(jobs, client_as):
    ticked = [jobs[name].pk for name in ("waiting", "running", "complete")]
    given = {"action": "abort", "sure": "yes", "job": ticked}
    client_as("operator").post("/jobs/bulk/", given)
    states = {name: QueuedJob.objects.get(pk=job.pk).status for name, job in jobs.items()}
    assert states == {
        "waiting": "failed",
        "delayed": "pending",
        "paused": "pending",
        "blocked": "pending",
        "running": "failed",
        "complete": "complete",
        "failed": "failed",
        "aborted": "failed",
        "expired": "failed",
    }


def test_everything_at_once_needs_a_typed_word(jobs, client_as):
    client = client_as("operator")
    given = {"action": "delete", "sure": "yes", "scope": "all", "schedules": "too"}
    assert client.post("/jobs/bulk/", given).status_code == 400
    assert client.post("/jobs/bulk/", {**given, "word": "yes"}).status_code == 400
    assert QueuedJob.objects.count() == len(jobs)
    assert client.post("/jobs/bulk/", {**given, "word": "all jobs"}).status_code == 302
    assert QueuedJob.objects.count() == 0


def test_a_taken_unique_key_refuses_one_and_not_the_others(client_as):
    queue = make_queue()
    make_job(queue, unique_key="only")
    twin = make_job(queue, "failed", error="E: 1", unique_key="only")
    other = make_job(queue, "failed", error="E: 2")
    client = client_as("operator")
    sure = {"action": "retry", "sure": "yes", "job": [twin.pk, other.pk]}
    page = client.post("/jobs/bulk/", sure, follow=True).text
    assert "1 job of 2 changed" in page
    assert f"{twin.pk}: an unfinished job has the unique key" in page
    assert QueuedJob.objects.get(pk=other.pk).status == "pending"


@pytest.mark.parametrize(
    "given",
    [{}, {"action": "explode"}, {"action": "retry", "job": ["x"]}],
)
def test_a_nonsensical_bulk_is_refused(given, client_as):
    assert client_as("operator").post("/jobs/bulk/", given).status_code == 400


def test_a_question_without_jobs_leads_to_the_list(client_as):
    assert client_as("operator").get("/jobs/bulk/").headers["Location"] == "/jobs/"


def test_whoever_sends_the_list_itself_is_asked_first(jobs, client_as):
    given = {"action": "delete", "job": [jobs["failed"].pk]}
    assert "Delete 1 job?" in client_as("operator").post("/jobs/bulk/", given).text
    assert QueuedJob.objects.count() == len(jobs)


def test_nothing_ticked_leads_back_to_the_same_list(jobs, client_as):
    given = {"action": "delete", "sure": "yes", "state": "failed", "q": "queue:mail"}
    answer = client_as("operator").post("/jobs/bulk/", given, follow=True)
    assert answer.redirect_chain == [("/jobs/?q=queue%3Amail&state=failed", 302)]
    assert "Select at least one job, or choose all matching jobs." in answer.text
    assert QueuedJob.objects.count() == len(jobs)


def test_a_viewer_sees_no_button_and_may_do_nothing(jobs, client_as):
    client = client_as("viewer")
    page = client.get("/jobs/").text
    assert 'name="action"' not in page
    assert "New job" not in page
    assert 'href="/services/">New job<' in client_as("operator").get("/jobs/").text
    assert client.post("/jobs/bulk/", {"action": "retry"}).status_code == 403
