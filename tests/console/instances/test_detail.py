"""The queued jobs of an instance, on its page and by `instance:` in a search."""

import json
import re
from datetime import timedelta

import pytest
from django.core.management import call_command

from allocation.atributo import Atributo
from allocation.instances import holds
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now, from_now
from queues.models import QueuedJob, Slot, Station
from queues.queries import search as searching
from queues.queries.search import search
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db
HOLDER = "host/1/abc"


@pytest.fixture
def jobs():
    """At web-1 one sticky and one shared job run, one job waits and one is delayed."""
    for name in ("web-1", "web-2"):
        Atributo().available(name)
    mail, other = make_queue("mail"), make_queue("other")
    HeldLease.take("worker/ada", HOLDER, 600, instance="web-1")
    holds.hold("web-1", holds.RUNNING_JOB, "worker/ada", seconds=600)
    for queue in (mail, other):
        first = Slot.objects.filter(queue=queue, number=0)
        first.update(holder=HOLDER, leased_until=from_now(600))
    here = {"sticky_key": "key", "concurrent": True, "routed_to": "web-1", "routed_epoch": 1}
    later = database_now() + timedelta(hours=1)
    return {
        "sticky": make_job(mail, "progress", **here),
        "shared": make_job(other, "progress", script="scan"),
        "elsewhere": make_job(mail, "progress", slot=mail.slots.last()),
        "waiting": make_job(mail, **here),
        "delayed": make_job(mail, due_at=later, **here),
        "shared waiting": make_job(mail),
        "of web-2": make_job(mail, **{**here, "sticky_key": "k2", "routed_to": "web-2"}),
        "complete": make_job(mail, "complete", **here),
    }


def named(found, jobs):
    keys = set(found)
    return {name for name, job in jobs.items() if job.pk in keys}


def on_page(text):
    return [int(pk) for pk in re.findall(r'class="job-id" href="/jobs/(\d+)/"', text)]


def test_the_page_shows_what_runs_at_an_instance_and_what_waits_for_it(jobs, client_as):
    text = client_as("viewer").get("/instances/web-1/").text
    card = text.partition('id="queued"')[2].partition("</section>")[0]
    assert named(on_page(card), jobs) == {"sticky", "shared", "waiting", "delayed"}
    assert "2 running here, 2 waiting" in card
    assert 'data-label="Worker">ada</td>' in card and "<strong>scan</strong>" in card
    assert "No worker serves this instance." in card
    Station.objects.create(pk="web-1", served_until=from_now(600))
    assert "No worker serves" not in client_as("viewer").get("/instances/web-1/").text


def test_an_instance_without_jobs_says_so(jobs, client_as):
    Atributo().available("idle")
    text = client_as("viewer").get("/instances/idle/").text
    assert "0 running here, 0 waiting" in text
    assert "No jobs are running or waiting here" in text


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("running", {"sticky", "shared"}),
        ("waiting", {"waiting"}),
        ("delayed", {"delayed"}),
        ("complete", {"complete"}),
        ("failed", set()),
        ("", {"sticky", "shared", "waiting", "delayed", "complete"}),
    ],
)
def test_the_search_finds_the_jobs_of_an_instance(state, names, jobs, client_as, capsys):
    asked = {"state": state, "q": "instance:web-1"}
    assert named(on_page(client_as("viewer").get("/jobs/", asked).text), jobs) == names
    rest = client_as("viewer").get(f"/api/v1/jobs?text=instance:web-1&state={state}").json()
    assert named((int(row["id"]) for row in rest["results"]), jobs) == names
    flags = ["--state", state] if state else []
    call_command("queued_jobs", "list", "--query", "instance:web-1", *flags, "--json")
    listed = json.loads(capsys.readouterr().out)
    assert named((int(row["id"]) for row in listed), jobs) == names


def test_the_links_of_the_card_lead_to_the_same_jobs(jobs, client_as):
    client = client_as("viewer")
    text = client.get("/instances/web-1/").text.partition('id="queued"')[2]
    links = re.findall(r'<a href="(/jobs/\?[^"]+)">(Running|Waiting|Delayed)</a>', text)
    found = {word: named(on_page(client.get(url.replace("&amp;", "&")).text), jobs)
             for url, word in links}  # fmt: skip
    assert found == {
        "Running": {"sticky", "shared"},
        "Waiting": {"waiting"},
        "Delayed": {"delayed"},
    }


def test_many_waiting_jobs_do_not_hide_the_few_of_an_instance(jobs, monkeypatch):
    """An index finds the jobs although more newer ones exist than are looked through."""
    monkeypatch.setattr(searching, "LOOKED_THROUGH", 2)
    for _ in range(4):
        make_job(jobs["waiting"].queue)
    found = search("instance:web-1", state="waiting", now=database_now())
    assert (list(found.jobs), found.floor) == ([jobs["waiting"]], None)


def test_where_many_wait_for_it_they_are_looked_through_piece_by_piece(jobs, monkeypatch):
    monkeypatch.setattr(searching, "LOOKED_THROUGH", 2)
    here = {"sticky_key": "key", "concurrent": True, "routed_to": "web-1", "routed_epoch": 1}
    newer = [make_job(jobs["waiting"].queue, **here) for _ in range(4)]
    found = search("instance:web-1", state="waiting", now=database_now())
    assert newer[-1] in found.jobs and jobs["waiting"] not in found.jobs
    further = search("instance:web-1", state="waiting", newest=found.floor - 1, now=database_now())
    assert not set(found.jobs) & set(further.jobs)
    assert found.floor is not None


@pytest.mark.only_on("sqlite")  # PostgreSQL reads a small table at once
def test_an_index_answers_what_waits_for_an_instance(jobs):
    waiting = search("instance:web-1", state="waiting", now=database_now()).jobs
    assert "job_waiting_routed" in waiting.order_by("-pk")[:51].explain()
    running = search("instance:web-1", state="running", now=database_now()).jobs
    assert "job_begun_by_status" in running.explain()
    assert QueuedJob.objects.count() == len(jobs)
