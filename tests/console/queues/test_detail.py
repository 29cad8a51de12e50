"""The page of a queue says why its jobs wait, offers what helps and lists the jobs."""

from datetime import timedelta

import pytest

from allocation.atributo import Atributo
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now, from_now
from queues import catalogue
from queues.models import Queue, Station
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db
STICKY = {"sticky_key": "ada", "routed_to": "web-1", "routed_epoch": 1, "rank": 10}


@pytest.fixture
def page(client_as):
    return lambda role="admin": client_as(role).get("/queues/mail/").text


@pytest.fixture
def worker(db):
    HeldLease.take("worker/w1", "host:1", 600)


def due(seconds=5, **fields):
    return make_job(make_queue(), due_at=database_now() - timedelta(seconds=seconds), **fields)


def test_a_sticky_job_that_nobody_serves_is_explained_before_it_is_late(page, worker):
    due(**STICKY)
    assert "No worker serves web-1, where its oldest job must run." in page()
    assert 'class="banner is-warn"' not in page()
    Station.objects.create(pk="web-1", served_until=from_now(60))
    assert "The workers of web-1 are busy, or its key is." in page()


def test_a_late_queue_says_so_with_what_helps(page, worker):
    Atributo().available("web-1")
    due(90, **STICKY)
    told = page()
    assert "Sticky jobs in queue mail are waiting for their instance." in told
    assert "Open web-1" in told and "manage.py worker --instance web-1" in told


def test_a_paused_queue_is_resumed_from_its_banner(page, worker, client_as):
    due(90)
    catalogue.pause("mail")
    told = page("operator")
    assert "1 due job may start, 2 jobs at once." in told
    assert 'name="next" value="/queues/mail/"' in told
    client_as("operator").post("/queues/mail/resume", {"next": "/queues/mail/"})
    assert not Queue.objects.get(name="mail").paused


def test_workers_of_other_queues_do_not_help(page):
    HeldLease.take("worker/w1", "host:1", 600, queues=["other"])
    due()
    assert "The workers that run serve other queues." in page()


def test_nothing_is_due(page, worker):
    make_queue()
    assert "No job is due. 1 worker will take the next one." in page()
    assert "No jobs in this queue" in page()


def test_its_newest_jobs_are_listed(page, worker):
    job = due(error="Odd: a teapot", attempt=1)
    told = page("viewer")
    assert f"/jobs/{job.pk}/" in told and "Odd: a teapot" in told


def test_the_button_leads_nowhere_else(client_as, worker):
    due(90)
    catalogue.pause("mail")
    answer = client_as("operator").post("/queues/mail/resume", {"next": "https://evil.example/"})
    assert answer.headers["Location"] == "/queues/mail/"
    catalogue.pause("mail")
    answer = client_as("operator").post("/queues/mail/resume", {"next": "//evil.example/"})
    assert answer.headers["Location"] == "/queues/mail/"
