"""One job: attempts, log, data without secrets, and its buttons."""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atributo_site.console.jobs.state import repeat_sentence
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.logic.lifecycle import ABORTED
from queues.models import Queue, QueuedJob, Run
from tests.console.page_elements import INJECTION, Elements
from tests.factories.jobs import make_job, make_queue, make_run, make_script

AWAITED = 'hx-trigger="refresh, every 2s" data-polled'
TOMORROW = datetime(2026, 3, 2, 14, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@pytest.fixture
def queue():
    make_script()
    return make_queue()


def page_of(client, job):
    return client.get(f"/jobs/{job.pk}/").text


def test_a_sticky_job_that_waits_names_the_worker_that_helps(client_as):
    sticky = {"sticky_key": "ada", "routed_to": "web-1", "routed_epoch": 1}
    job = make_job(make_queue(), **sticky)
    assert "manage.py worker --instance web-1" in client_as("viewer").get(f"/jobs/{job.pk}/").text


def test_the_page_tells_the_whole_story(queue, client_as):
    job = make_job(
        queue,
        "failed",
        error="ValueError: no",
        data={"to": "ada", "n": 12345678901234567890123},
        attempt=2,
        success={"mount": "/mailer", "name": "thanks"},
        sticky_key="customer-7",
    )
    make_run(job, 1, error="ValueError: first", traceback="Traceback one", lines=["counted 1"])
    make_run(job, 2, error="ValueError: no", traceback="Traceback two")
    page = page_of(client_as("viewer"), job)
    for text in (
        "12345678901234567890123",
        "Traceback one",
        "Traceback two",
        "counted 1",
        "ran 2s",
        "/mailer/thanks",
        "customer-7",
        "Id created</dt><dd>2026-11-16 03:46:37",
    ):
        assert text in page
    assert page.index("Attempt 2") < page.index("Attempt 1")


def test_an_attempt_waited_since_it_was_due(queue, client_as):
    now = database_now()
    pushed, due = now - timedelta(minutes=12), now - timedelta(seconds=5)
    job = make_job(queue, "complete", attempt=2, due_at=due)
    QueuedJob.objects.update(created_at=pushed)
    first, second = make_run(job, 1), make_run(job, 2, "complete")
    for run, at in ((first, pushed + timedelta(seconds=3)), (second, due + timedelta(seconds=1))):
        Run.objects.filter(pk=run.pk).update(started_at=at, ended_at=at)
    page = page_of(client_as("viewer"), job)
    assert "waited 1s" in page
    assert "3s after the push" in page
    assert "waited 11m" not in page


def test_progress_and_log_refresh_while_it_runs(queue, client_as):
    job = make_job(queue, "progress", attempt=1)
    make_run(job, 1, "running", lines=["halfway"], percent=50.0, note="5 of 10")
    client = client_as("viewer")
    page = page_of(client, job)
    assert 'hx-trigger="every 2s"' in page
    assert 'aria-valuenow="50"' in page
    assert "5 of 10" in page
    QueuedJob.objects.filter(pk=job.pk).update(
        status="complete", slot=None, ended_at=database_now()
    )
    live = {"HX-Request": "true", "HX-Target": "running"}
    assert client.get(f"/jobs/{job.pk}/", headers=live).headers["HX-Refresh"] == "true"
    assert "every 2s" not in page_of(client, job)


def test_a_job_that_is_about_to_start_is_looked_at_until_it_does(queue, client_as):
    client, now = client_as("viewer"), database_now()
    later, soon = now + timedelta(hours=1), now + timedelta(seconds=5)
    assert AWAITED in page_of(client, make_job(queue, "pending", due_at=soon))
    assert AWAITED not in page_of(client, make_job(queue, "pending", due_at=later))
    assert AWAITED not in page_of(client, make_job(queue, "complete"))
    Queue.objects.filter(pk=queue.pk).update(paused_at=now)
    assert AWAITED not in page_of(client, make_job(queue, "pending", due_at=now))


def test_secrets_are_masked(queue, client_as):
    data = {"to": "ada", "pin": "canary-1", "deep": [{"api_key": "canary-2"}]}
    job = make_job(queue, "complete", data=data, result={"token": "canary-3"})
    client = client_as("admin")
    for path in (f"/jobs/{job.pk}/", f"/jobs/{job.pk}/edit/", "/jobs/"):
        assert "canary" not in client.get(path).text


def test_callbacks_are_listed(queue, client_as):
    job = make_job(queue, "complete", success={"mount": "/mailer", "name": "thanks"})
    callback = make_job(queue, "complete", parent=job.pk, parent_run=1, script="thanks")
    client = client_as("viewer")
    assert f"/jobs/{callback.pk}/" in page_of(client, job)
    assert f"/jobs/{callback.pk}/" not in client.get("/jobs/").text
    assert f'href="/jobs/{job.pk}/">{job.pk}</a>' in page_of(client, callback)


@pytest.mark.parametrize(
    ("status", "fields", "word"),
    [
        ("pending", {}, "waiting"),
        ("progress", {}, "running"),
        ("failed", {"aborted_at": datetime(2026, 1, 1, tzinfo=UTC)}, "aborted"),
    ],
)
def test_a_callback_is_in_a_state_of_the_console(status, fields, word, queue, client_as):
    job = make_job(queue, "complete")
    make_job(queue, status, parent=job.pk, parent_run=1, script="thanks", **fields)
    page = page_of(client_as("viewer"), job)
    assert word in re.search(r"Callbacks</h2>.*?</section>", page, re.DOTALL)[0]
    assert "pending" not in page.split("Callbacks</h2>")[1].split("</section>")[0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, ""),
        ({"repeat_times": 3, "runs": 1}, "continuously, 1 of 4"),
        (
            {"repeat_times": -1, "repeat_delay_ms": 5000, "runs": 37, "repeat_until": TOMORROW},
            "every 5s until tomorrow 14:00, 37 of ∞",
        ),
    ],
)
def test_repeats_are_a_sentence(fields, said, queue):
    assert repeat_sentence(make_job(queue, **fields), TOMORROW - timedelta(hours=20)) == said


def test_an_aborted_job_that_never_ran_says_so(queue, client_as):
    job = make_job(queue)
    client = client_as("operator")
    page = client.post(f"/jobs/{job.pk}/abort", {"reason": "not needed"}, follow=True).text
    assert "An abort does not count as a failure of the script" in page
    assert "This job never ran" in page
    assert "manage.py worker" not in page
    assert ABORTED not in client.get("/jobs/?state=aborted").text


def test_retry_run_now_and_abort(queue, client_as):
    later = database_now() + timedelta(hours=1)
    failed = make_job(queue, "failed", error="E: 1")
    delayed, waiting = make_job(queue, due_at=later), make_job(queue)
    client = client_as("operator")
    client.post(f"/jobs/{failed.pk}/retry")
    client.post(f"/jobs/{delayed.pk}/run")
    client.post(f"/jobs/{waiting.pk}/abort")
    rows = QueuedJob.objects.in_bulk()
    assert rows[failed.pk].status == "pending"
    assert rows[delayed.pk].due_at < later
    assert rows[waiting.pk].aborted_at is not None
    kinds = set(Event.objects.filter(actor="operator").values_list("kind", flat=True))
    assert kinds >= {"job.reset", "job.run_now", "job.aborted"}


def test_a_failed_job_is_retried_with_one_click_and_a_complete_one_asks(queue, client_as):
    failed, complete = make_job(queue, "failed", error="E: 1"), make_job(queue, "complete")
    client = client_as("operator")
    assert re.search(r"<button [^>]*data-retry .*Retry<", page_of(client, failed))
    assert f'data-retry class="button quiet" href="/jobs/{complete.pk}/retry"' in page_of(
        client, complete
    )
    assert "Run send-mail again?" in client.get(f"/jobs/{complete.pk}/retry").text
    assert QueuedJob.objects.get(pk=complete.pk).status == "complete"
    said = client.post(f"/jobs/{complete.pk}/retry", follow=True).text
    assert f'<a href="/jobs/{complete.pk}/">send-mail {complete.pk}</a> will run again.' in said
    assert "has not finished yet" in client.get(f"/jobs/{complete.pk}/retry", follow=True).text


def test_a_second_retry_leads_to_the_job_that_runs_already(queue, client_as):
    job = make_job(queue, "progress")
    back = client_as("operator").post(f"/jobs/{job.pk}/retry", follow=True)
    assert back.redirect_chain == [(f"/jobs/{job.pk}/", 302)]
    assert f"job {job.pk} is running." in back.text
    job.refresh_from_db()
    assert job.status == "progress"


def test_aborting_asks_first_and_takes_a_reason(queue, client_as):
    job = make_job(queue, "progress")
    client = client_as("operator")
    assert f'class="button danger" href="/jobs/{job.pk}/abort">Abort<' in page_of(client, job)
    asked = client.get(f"/jobs/{job.pk}/abort").text
    assert "The job ends as aborted" in asked and 'name="reason"' in asked
    client.post(f"/jobs/{job.pk}/abort", {"reason": "wrong data"})
    assert Event.objects.get(kind="job.aborted").facts == {"reason": "wrong data"}


def test_a_pause_takes_a_reason(queue, client_as):
    job = make_job(queue, repeat_times=-1)
    client = client_as("operator")
    form = re.search(rf'action="/jobs/{job.pk}/pause">.*?</form>', page_of(client, job))[0]
    assert 'name="reason"' in form
    client.post(f"/jobs/{job.pk}/pause", {"reason": "holidays"})
    assert "paused by operator" in page_of(client, job)
    assert ": holidays" in page_of(client, job)


def test_a_job_without_a_time_limit_says_so(queue, client_as):
    client = client_as("viewer")
    limit = r"Time limit</dt><dd>([^<]+)<"
    assert re.search(limit, page_of(client, make_job(queue)))[1] == "none"
    assert re.search(limit, page_of(client, make_job(queue, timeout_ms=2000)))[1] == "2s"


def test_the_job_can_be_copied_as_rest_has_it(queue, client_as, rest_as):
    job = make_job(queue, data={"pin": "canary-1", "to": "ada"}, sticky_key="s")
    page = page_of(client_as("viewer"), job)
    assert f'data-copy="http://testserver/jobs/{job.pk}/"' in page
    copied = re.search(r'data-copy="([^"]+)" aria-label="Copy JSON of the job"', page)[1]
    shown = rest_as("viewer").get(f"/api/v1/jobs/{job.pk}").json()
    assert json.loads(unescape(copied)).keys() == shown.keys()
    assert json.loads(unescape(copied))["data"] == shown["data"] != job.data


def test_deleting_asks_first(queue, client_as):
    job = make_job(queue, "complete")
    client = client_as("operator")
    assert "cannot be undone" in client.get(f"/jobs/{job.pk}/delete").text
    assert QueuedJob.objects.filter(pk=job.pk).exists()
    client.post(f"/jobs/{job.pk}/delete")
    assert not QueuedJob.objects.filter(pk=job.pk).exists()
    back = client.get(f"/jobs/{job.pk}/delete", follow=True)
    assert back.redirect_chain == [("/jobs/", 302)]
    assert f"Job {job.pk} does not exist." in back.text


def test_edited_data_is_pushed_as_a_new_job_and_keeps_its_secrets(queue, client_as):
    data = {"to": "wrong", "copies": 2, "pin": "canary-1", "tags": [1]}
    job = make_job(queue, "failed", error="E: 1", data=data, max_failures=4, sticky_key="s")
    given = {
        "data-to": "right",
        "data-copies": "12345678901234567890",
        "data-how": '"slow"',
        "data-pin": "•••",
        "data-tags": "[1, 2]",
        "queue": "mail",
        "max_failures": "4",
    }
    client = client_as("operator")
    answer = client.post(f"/jobs/{job.pk}/edit/", given)
    new = QueuedJob.objects.exclude(pk=job.pk).get()
    assert answer.headers["Location"] == f"/jobs/{new.pk}/"
    assert new.data == {
        "to": "right",
        "copies": 12345678901234567890,
        "how": "slow",
        "loud": False,
        "pin": "canary-1",
        "tags": [1, 2],
    }
    assert (new.max_failures, new.sticky_key, new.status) == (4, "s", "pending")
    assert QueuedJob.objects.get(pk=job.pk).data == data
    link = f'href="/jobs/{new.pk}/">{new.pk}</a>'
    assert f"Pushed again as <a {link}" in page_of(client, new)
    assert f'Pushed again as</dt><dd><a class="job-id" {link}' in page_of(client, job)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"data-copies": "0", "data-to": "x", "queue": "mail"}, "must be at least 1"),
        ({"data-copies": "two", "data-to": "x", "queue": "mail"}, "must be a whole number"),
        ({"data-to": "x", "data-tags": "[", "queue": "mail"}, "not JSON"),
        ({"data-to": "x", "queue": "nowhere"}, "Queue does not exist"),
        ({"data-to": "x", "queue": "mail", "priority": "9"}, "priority"),
    ],
)
def test_what_does_not_fit_is_explained_and_nothing_is_pushed(given, said, queue, client_as):
    job = make_job(queue, "failed", error="E: 1", data={"to": "x"})
    answer = client_as("operator").post(f"/jobs/{job.pk}/edit/", given)
    assert answer.status_code == 400
    assert said in answer.text
    assert QueuedJob.objects.count() == 1


def test_no_text_is_taken_for_html(queue, client_as):
    job = make_job(
        queue, "failed", error=INJECTION, data={INJECTION: [INJECTION]}, result=INJECTION
    )
    make_run(job, 1, error=INJECTION, traceback=INJECTION, lines=[INJECTION], note=INJECTION)
    client = client_as("admin")
    for path in (f"/jobs/{job.pk}/", f"/jobs/{job.pk}/edit/", f"/jobs/{job.pk}/delete"):
        page = Elements(client.get(path).text)
        assert "injected" not in page.ids
        assert page.handlers == []
        assert "x" not in page.images


@pytest.mark.parametrize("job_id", ["1", "nonsense", "9" * 30])
def test_a_job_that_is_none(job_id, client_as):
    assert client_as("viewer").get(f"/jobs/{job_id}/").status_code in {400, 404}


def test_more_attempts_need_no_more_queries(queue, client_as, django_assert_num_queries):
    job = make_job(queue, "failed", error="E: 1", attempt=1)
    make_run(job, 1, lines=["one"])
    client = client_as("operator")
    page_of(client, job)
    with CaptureQueriesContext(connection) as few:
        page_of(client, job)
    for attempt in range(2, 30):
        make_run(job, attempt, lines=["line"] * 20)
        make_job(queue, "complete", parent=job.pk, parent_run=attempt)
    with django_assert_num_queries(len(few)):
        page_of(client, job)
