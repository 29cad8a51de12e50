"""The screen of jobs that repeat."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atributo_site.console.schedules.list import ScheduleFilter
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.jobs import actions
from queues.jobs.repeating import repeating
from queues.models import QueuedJob
from tests.factories.jobs import make_job, make_queue, make_run, make_script

pytestmark = pytest.mark.django_db
EVERY = {"repeat_times": -1, "repeat_delay_ms": 5000, "runs": 37}


@pytest.fixture
def job():
    queue = make_queue()
    make_job(queue)
    make_job(queue, "complete", **EVERY)
    job = make_job(queue, attempt=2, **EVERY)
    make_run(job, 1, "complete")
    make_run(job, 2, "failed")
    return job


def test_a_repeating_job_is_a_sentence_with_its_next_and_last_runs(job, client_as):
    page = client_as("viewer").get("/schedules/").text
    assert page.count('class="job-id"') == 1
    assert "every 5s, 37 of ∞" in page
    assert "1 complete, 1 failed" in page
    assert "Run now" not in page


def test_what_is_late_says_since_when_and_goes_on_from_now(job, client_as):
    QueuedJob.objects.filter(pk=job.pk).update(due_at=database_now() - timedelta(minutes=5))
    page = client_as("viewer").get("/schedules/").text
    cell = re.sub("<[^>]+>", "", page.partition('data-label="Next runs">')[2].partition("</td>")[0])
    assert cell == "due 5m agothen in 5s, in 10s, in 15s, in 20s"


def test_what_is_not_due_yet_waits_without_a_warning(job, client_as):
    QueuedJob.objects.filter(pk=job.pk).update(due_at="2099-01-01T00:00:00Z")
    page = client_as("viewer").get("/schedules/").text
    state = page.partition('data-label="State">')[2].partition("</td>")[0]
    assert 'class="state is-idle"' in state
    assert "waiting" in state


def test_an_operator_runs_it_now_and_ends_it_after_a_question(job, client_as):
    QueuedJob.objects.filter(pk=job.pk).update(due_at="2099-01-01T00:00:00Z")
    client, here = client_as("operator"), {"next": "schedules"}
    assert "due now" in client.post(f"/jobs/{job.pk}/run", here, follow=True).text
    assert QueuedJob.objects.get(pk=job.pk).due_at <= database_now()
    url = f"/jobs/{job.pk}/abort"
    assert (
        f'href="{url}?next=schedules" aria-label="End send-mail"' in client.get("/schedules/").text
    )
    assert "End send-mail?" in client.get(url, here).text
    page = client.post(url, {**here, "reason": "month's end"}, follow=True).text
    assert "No repeating jobs" in page
    assert f'<a href="/jobs/{job.pk}/">send-mail {job.pk}</a> is aborted.' in page
    assert Event.objects.get(kind="job.aborted").facts == {"reason": "month's end"}
    assert "had already finished" in client.get(url, here, follow=True).text


def test_it_is_listed_by_rest_and_by_the_command(job, client_as, capsys):
    from django.core.management import call_command

    call_command("queued_jobs", "list", "--repeating")
    assert capsys.readouterr().out.count("send-mail") == 1
    answer = client_as("viewer").get("/api/v1/jobs?repeating=true").json()
    assert [row["id"] for row in answer["results"]] == [str(job.pk)]


def test_an_index_answers_however_many_jobs_there_are(job):
    plan = repeating().order_by("due_at", "pk").explain()
    assert "job_repeating" in plan or connection.vendor == "postgresql"


def test_more_repeats_need_no_more_queries(job, client_as):
    client = client_as("viewer")
    client.get("/schedules/")
    with CaptureQueriesContext(connection) as few:
        client.get("/schedules/")
    for _ in range(20):
        make_run(make_job(job.queue, attempt=1, **EVERY), 1, "complete")
    with CaptureQueriesContext(connection) as many:
        client.get("/schedules/")
    assert len(many) == len(few)


def test_an_operator_changes_the_schedule_and_the_job_stays(job, client_as):
    client, url = client_as("operator"), f"/jobs/{job.pk}/schedule/"
    assert f'href="{url}?next=schedules"' in client.get("/schedules/").text
    page = client.get(url).text
    assert 'name="repeat_delay" required maxlength="40" value="5s"' in page
    assert f"manage.py queued_jobs reschedule {job.pk} --repeat-delay 5000" in page
    assert 'name="repeat_times" required maxlength="40" list="times"' in page
    form = {"repeat_delay": "1h30m", "repeat_times": "40", "repeat_until": "2090-01-31T12:00"}
    page = client.post(url, {**form, "next": "schedules"}, follow=True).text
    assert "has a new schedule." in page
    assert "every 1h30m until 2090-01-31 12:00, 37 of 41" in page
    assert Event.objects.get(kind="job.rescheduled").facts["before"]["repeat_delay"] == 5000


def test_what_the_page_showed_does_not_undo_what_somebody_else_changed(job, client_as):
    client, url = client_as("operator"), f"/jobs/{job.pk}/schedule/"
    seen = {"seen-repeat_delay": "5s", "seen-repeat_times": "forever", "seen-repeat_until": ""}
    QueuedJob.objects.filter(pk=job.pk).update(repeat_delay_ms=60_000)
    form = {"repeat_delay": "5s", "repeat_times": "99", "repeat_until": ""}
    client.post(url, {**seen, **form})
    found = QueuedJob.objects.get(pk=job.pk)
    assert (found.repeat_delay_ms, found.repeat_times) == (60_000, 99)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, {"mail", "other", "asleep"}),
        ({"queue": "mail"}, {"mail"}),
        ({"queue": "nowhere"}, set()),
        ({"script": "send-mail"}, {"mail", "asleep"}),
        ({"script": "/mailer/send-mail"}, {"mail", "asleep"}),
        ({"script": "/x/send-mail"}, set()),
        ({"script": "clean", "queue": "other"}, {"other"}),
        ({"paused": "yes"}, {"asleep"}),
        ({"paused": "no"}, {"mail", "other"}),
    ],
)
def test_the_address_filters(asked, found, client_as):
    jobs = {name: make_job(make_queue(name), **EVERY) for name in ("mail", "other", "asleep")}
    QueuedJob.objects.filter(pk=jobs["other"].pk).update(script="clean")
    actions.pause(jobs["asleep"].pk)
    page = client_as("viewer").get("/schedules/", asked).text
    assert {name for name, job in jobs.items() if f"/jobs/{job.pk}/" in page} == found
    assert ("No schedules match" in page) == (not found)


def test_a_filter_that_is_none_is_told(job, client_as):
    page = client_as("viewer").get("/schedules/", {"paused": "maybe"}).text
    assert "Paused:" in page and f"/jobs/{job.pk}/" not in page


@pytest.mark.parametrize(
    "asked", [{"queue": "mail"}, {"script": "/mailer/send-mail"}, {"paused": "no"}]
)
def test_an_index_answers_every_filter(asked, job):
    rows = ScheduleFilter(asked).of(repeating().select_related("queue"))
    plan = rows.order_by("due_at", "pk")[:51].explain()
    assert "job_repeating" in plan or connection.vendor == "postgresql"


def test_a_new_schedule_has_a_form_of_its_own(client_as):
    make_script()
    client = client_as("operator")
    assert 'href="/schedules/new/"' in client.get("/schedules/").text
    page = client.get("/schedules/new/").text
    assert '<option value="/mailer/send-mail">' in page
    viewer = client_as("viewer")
    assert "/schedules/new/" not in viewer.get("/schedules/").text
    assert viewer.get("/schedules/new/").status_code == 403


@pytest.mark.parametrize(
    ("typed", "status", "said"),
    [
        ({"repeat_delay": "soon"}, 400, "Every: &#x27;soon&#x27; is not a duration. Write"),
        ({"repeat_until": "soon"}, 400, "Until: &#x27;soon&#x27; is not a time. Write it like"),
        ({"repeat_until": "2001-01-01"}, 400, "repeat_until is over already"),
        ({"repeat_times": "36"}, 400, "repeat_times must be at least 37"),
        ({"repeat_times": "0"}, 400, "repeat_times must be at least 37"),
    ],
)
def test_a_schedule_that_cannot_be_is_shown_again(typed, status, said, job, client_as):
    form = {"repeat_delay": "7m", "repeat_times": "50", "repeat_until": "", **typed}
    answer = client_as("operator").post(f"/jobs/{job.pk}/schedule/", form)
    assert answer.status_code == status and said in answer.text
    for value in form.values():
        assert f'value="{value}"' in answer.text
    assert QueuedJob.objects.get(pk=job.pk).repeat_delay_ms == 5000


def test_what_runs_keeps_its_schedule_and_what_is_over_has_none(job, client_as):
    client, form = client_as("operator"), {"repeat_delay": "7m", "repeat_times": "50"}
    running = make_job(job.queue, "progress", **EVERY)
    answer = client.post(f"/jobs/{running.pk}/schedule/", form)
    assert answer.status_code == 409 and 'value="7m"' in answer.text
    over = make_job(job.queue, "complete", **EVERY)
    assert client.post(f"/jobs/{over.pk}/schedule/", form).status_code == 409
    page = client.get(f"/jobs/{over.pk}/schedule/", follow=True)
    assert page.redirect_chain == [("/schedules/", 302)]
    assert "does not repeat or has ended" in page.text


def test_a_viewer_changes_no_schedule(job, client_as):
    client, url = client_as("viewer"), f"/jobs/{job.pk}/schedule/"
    assert "/schedule/" not in client.get("/schedules/").text
    assert [client.get(url).status_code, client.post(url).status_code] == [403, 403]
