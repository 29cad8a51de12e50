"""A bulk action leaves repeating jobs alone unless they are included."""

import json
import re

import pytest
from django.core.management import call_command

from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.jobs import operations
from queues.models import Operation, QueuedJob
from tests.factories.jobs import make_job, make_queue, paused_job

pytestmark = pytest.mark.django_db
WAITING = {"state": "waiting", "text": "queue:mail"}


@pytest.fixture
def queue():
    return make_queue()


def left():
    return set(QueuedJob.objects.values_list("pk", flat=True))


def emptying(client):
    """Return the address that the page of the queue links to."""
    page = client.get("/queues/mail/").text
    return re.search(r'href="([^"]+)">Empty the queue', page)[1].replace("&amp;", "&")


def hidden_fields(page):
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))


def test_a_queue_counts_and_lists_the_same_jobs_as_waiting(queue, client_as):
    waiting = make_job(queue)
    paused_job(queue)
    client = client_as("operator")
    page = client.get("/queues/mail/").text
    assert re.search(r'Waiting</h2><p class="tile-main">(\d+)<', page)[1] == "1"
    listed = client.get("/jobs/?state=waiting&q=queue:mail").text
    assert re.findall(r'class="job-id" href="/jobs/(\d+)/"', listed) == [str(waiting.pk)]


def test_emptying_a_queue_leaves_its_schedules(queue, client_as):
    make_job(queue)
    due, asleep = make_job(queue, repeat_times=-1), paused_job(queue)
    client = client_as("operator")
    asked = client.get(emptying(client)).text
    assert "Delete 2 jobs?" in asked
    assert "1 of these jobs repeats. Schedules are left alone" in asked
    answer = client.post("/jobs/bulk/", hidden_fields(asked), follow=True).text
    assert "1 job of 2 changed" in answer
    assert f"{due.pk}: It is a schedule" in answer
    assert left() == {due.pk, asleep.pk}


def test_a_tick_empties_it_of_schedules_too(queue, client_as):
    make_job(queue, repeat_times=-1)
    asleep = paused_job(queue)
    client = client_as("operator")
    asked = client.get(emptying(client)).text
    assert "It repeats. Schedules are left alone" in asked
    client.post("/jobs/bulk/", {**hidden_fields(asked), "schedules": "too"})
    assert left() == {asleep.pk}
    assert Event.objects.get(kind="jobs.delete").facts["count"] == 1


@pytest.mark.parametrize(("action", "asks"), [("delete", True), ("abort", True), ("retry", False)])
def test_only_what_ends_a_schedule_asks_for_it(action, asks, queue, client_as):
    job = make_job(queue, repeat_times=3)
    page = client_as("operator").get("/jobs/bulk/", {"action": action, "job": job.pk}).text
    assert ('name="schedules"' in page) == asks


def test_a_schedule_that_is_over_is_a_job_like_any_other(queue, client_as):
    job = make_job(queue, "complete", repeat_times=3)
    asked = client_as("operator").get("/jobs/bulk/", {"action": "delete", "job": job.pk}).text
    assert 'name="schedules"' not in asked
    client_as("operator").post("/jobs/bulk/", hidden_fields(asked))
    assert left() == set()


def test_a_wrong_word_keeps_the_tick(queue, client_as):
    make_job(queue, repeat_times=-1)
    given = {"action": "delete", "sure": "yes", "scope": "all", "schedules": "too"}
    page = client_as("operator").post("/jobs/bulk/", given)
    assert page.status_code == 400
    assert 'name="schedules" value="too" checked' in page.text


def swept():
    operations.advance(database_now(), HeldLease.take("curator", "test", 600))
    return Operation.objects.get()


def started(client_as, **more):
    body = json.dumps({"action": "delete", "query": WAITING, **more})
    client = client_as("operator")
    return client.post("/api/v1/operations", body, content_type="application/json").json()


def test_rest_spares_schedules_and_says_so(queue, client_as):
    make_job(queue)
    due = make_job(queue, repeat_times=-1)
    started(client_as)
    done = swept()
    assert (done.changed, done.refused, left()) == (1, 1, {due.pk})
    assert done.refusals.get().reason.startswith("It is a schedule")


def test_rest_ends_schedules_that_are_meant(queue, client_as):
    make_job(queue, repeat_times=-1)
    asleep = paused_job(queue)
    assert started(client_as, schedules=True)["said"] == "waiting · queue:mail · with schedules"
    assert (swept().changed, left()) == (1, {asleep.pk})
    page = client_as("viewer").get(f"/system/operations/{Operation.objects.get().pk}/").text
    assert "schedules=" not in page


@pytest.mark.parametrize("flags", [[], ["--schedules"]])
def test_the_command_means_the_same(flags, queue):
    make_job(queue)
    due = make_job(queue, repeat_times=-1)
    search = ["--state", "waiting", "--query", "queue:mail"]
    call_command("operations", "start", "delete", *search, *flags)
    swept()
    assert left() == (set() if flags else {due.pk})
