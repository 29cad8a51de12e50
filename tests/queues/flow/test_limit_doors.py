"""Limits over REST, by command and on the queue's page, with who waits for which."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils.dateparse import parse_datetime

import queues
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.maintenance.invariants import over_a_limit
from queues.models import Queue, QueuedJob, Run
from queues.queries.incidents import symptoms
from queues.queries.snapshot import snapshot
from queues.runs.reservation import reserve
from queues.runs.slots import acquire

JSON = "application/json"
ONE = [{"per": "key", "at_once": 1}]
URL = "/api/v1/queues/work"


@pytest.fixture
def waiting(queue, act):
    """A key of which one job is held and two wait."""
    queues.set_limits("work", ONE)
    ids = queue.push_many(act, [1, 2, 3], flow_key="acme")
    slot = acquire("work", 0, "hands")
    reserve(slot, 10)
    assert reserve(slot, 10) is None
    return ids


def test_rest_sets_limits_and_tells_who_waits(waiting, rest_as):
    told = rest_as("viewer").get(f"{URL}/limits").json()
    assert (told["limits"], told["waits_for"]) == (ONE, "")
    (line,) = told["waiting"]
    assert (line["flow_key"], line["waits_for"]) == ("acme", "1 at once per key")
    assert (line["jobs"], line["running"]) == (2, 1)
    changed = rest_as("admin").patch(URL, {"limits": [], "weights": {"acme": 2}}, JSON).json()
    assert (changed["limits"], changed["weights"]) == ([], {"acme": 2})
    job = rest_as("viewer").get(f"/api/v1/jobs/{waiting[1]}").json()
    assert (job["flow_key"], job["limits"]) == ("acme", [])


def test_rest_refuses_a_rate_of_nothing(queue, rest_as):
    answer = rest_as("admin").patch(URL, {"limits": [{"per": "key", "rate": "0/min"}]}, JSON)
    assert answer.status_code == 400 and "a rate allows from 1" in answer.text
    assert Queue.objects.get(name="work").limits is None


def test_a_job_says_which_limit_it_waits_for(waiting, rest_as):
    job = rest_as("viewer").get(f"/api/v1/jobs/{waiting[1]}").json()
    assert job["waits_for"] == "The limit is reached: 1 at once per key."


def test_the_command_sets_and_lists(waiting, capsys):
    call_command("queue", "limits", "work")
    assert "1 at once per key" in capsys.readouterr().out
    call_command("queue", "create", "work", "--limits", '[{"per": "queue", "rate": "5/s"}]')
    call_command("queue", "limits", "work", "--json")
    told = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert told["limits"] == [{"per": "queue", "rate": "5/s", "burst": 1}]


def test_the_page_shows_and_sets_them(waiting, client_as):
    page = client_as("viewer").get("/queues/work/").text
    assert "acme" in page and "1 at once per key" in page
    given = {"limits": '[{"per": "key", "at_once": 2}]', "weights": ""}
    client_as("admin").post("/queues/work/limits", given)
    assert Queue.objects.get(name="work").limits == [{"per": "key", "at_once": 2}]
    assert Event.objects.filter(kind="queue.changed", facts__has_key="limits").count() == 2


def test_the_page_refuses_what_is_no_limit(queue, client_as):
    given = {"limits": '[{"per": "planet", "at_once": 2}]'}
    page = client_as("admin").post("/queues/work/limits", given, follow=True).text
    assert "must be one of key, queue, script, instance" in page
    assert Queue.objects.get(name="work").limits is None


def test_a_late_queue_names_the_limit_that_holds_it(waiting):
    queues.set_target_age("work", 1)
    QueuedJob.objects.waiting().update(due_at="2020-01-01T00:00Z")
    now = database_now()
    seen = snapshot(now)
    assert [line["flows_waiting"] for line in seen["queues"] if line["name"] == "work"] == [1]
    details = [each.detail for each in symptoms(seen, now) if each.subject == "queue:work"]
    assert any("A limit holds its jobs: 1 at once per key." in each for each in details)


def test_the_rule_finds_what_is_over_a_limit(waiting):
    assert over_a_limit() == []
    slot = QueuedJob.objects.get(slot__isnull=False).slot_id
    QueuedJob.objects.update(
        status="progress", slot=slot, slot_epoch=1, started_at="2100-01-01T00:00Z"
    )
    (found,) = over_a_limit()
    assert found.endswith("key acme: 3 of 1")


def test_jobs_are_found_by_their_flow_key(waiting, rest_as):
    found = rest_as("viewer").get("/api/v1/jobs", {"text": "flow:acme"}).json()["results"]
    assert len(found) == 3


@pytest.fixture
def backlog(waiting, act):
    """The same key, and a run that took ten minutes."""
    done = queues.create("done").push(act)
    QueuedJob.objects.filter(pk=done).update(status="complete", ended_at=database_now(), attempt=1)
    Run.objects.create(
        job_id=done,
        attempt=1,
        number=1,
        worker="w",
        outcome="complete",
        started_at="2030-01-01T12:00Z",
        ended_at="2030-01-01T12:10Z",
    )
    queues.create("work", max_workers=4)


def test_what_if_tells_when_the_backlog_ends(backlog, rest_as):
    told = rest_as("viewer").post(f"{URL}/limits", {"limits": []}, JSON).json()
    assert (told["now"]["jobs"], told["now"]["held_by"]) == (2, "1 at once per key (acme)")
    assert told["then"]["held_by"] == "4 at once in the queue"
    now, then = (parse_datetime(told[when]["ends_at"]) for when in ("now", "then"))
    assert now - then == timedelta(minutes=10)
    assert Queue.objects.get(name="work").limits == ONE
    refused = rest_as("viewer").post(f"{URL}/limits", {"limits": [{"per": "planet"}]}, JSON)
    assert refused.status_code == 400 and "must be one of key" in refused.text


def test_what_if_by_command_and_on_the_page(backlog, client_as, capsys):
    call_command("queue", "limits", "work", "--what-if", '[{"per": "key", "at_once": 3}]')
    first, then = capsys.readouterr().out.splitlines()
    assert first.startswith("now: The backlog of 2 due jobs ends about ")
    assert then.startswith("then: The backlog of 2 due jobs ends about ")
    page = client_as("admin").get("/queues/work/", {"limits": "[]"}).text
    assert "With these limits: The backlog of 2 due jobs" in page
    page = client_as("admin").get("/queues/work/", {"limits": "["}).text
    assert "With these limits" not in page and "error-text" in page


def test_a_script_that_never_ran_has_no_estimate(waiting):
    told = queues.what_if("work", None)["now"]
    assert told["said"] == "No estimate: /probe/act has not run yet."
