"""Screens, REST and commands show the policy of a queue and the place of a job."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

import queues
from allocation.models import Allocation
from queues.errors import BadPush, BadQueue
from queues.models import Queue, QueuedJob


def policy():
    return Queue.objects.values_list("when_away", "away_seconds").get(name="work")


def test_the_policy_by_rest(queue, rest_as):
    wish = {"when_away": "move", "away_seconds": 5}
    answer = rest_as("admin").patch("/api/v1/queues/work", wish, content_type="application/json")
    assert answer.status_code == 200
    assert {name: answer.json()[name] for name in wish} == wish
    assert policy() == ("move", 5)


def test_the_policy_by_command(queue):
    said = StringIO()
    call_command(
        "queue", "create", "work", "--when-away", "fail", "--away-seconds", "9", stdout=said
    )
    assert policy() == ("fail", 9)
    assert "without their instance sticky jobs fail after 9s" in said.getvalue()


def test_the_policy_in_the_browser(queue, client_as):
    admin = client_as("admin")
    admin.post(
        reverse("atributo:queue-away", args=["work"]), {"when_away": "move", "away_seconds": "7s"}
    )
    assert policy() == ("move", 7)
    page = admin.get(reverse("atributo:queue", args=["work"])).content.decode()
    assert "move to another instance after no worker has served theirs for 7s" in page


def test_an_operator_does_not_change_the_policy(queue, client_as):
    wish = {"when_away": "fail", "away_seconds": 0}
    answer = client_as("operator").post(reverse("atributo:queue-away", args=["work"]), wish)
    assert (answer.status_code, policy()) == (403, ("wait", 30))


def test_an_impossible_policy_is_refused(queue):
    with pytest.raises(BadQueue):
        queues.catalogue.set_when_away("work", "hope", None)


@pytest.mark.parametrize("key", ["", "a\nb", "x" * 256])
def test_a_key_that_cannot_be_allocated_is_refused_at_once(queue, act, key):
    with pytest.raises(BadPush):
        queue.push(act, sticky_key=key)
    assert queue.all() == []


def test_a_job_tells_its_instance_and_what_it_waits_for(queue, act, serve, rest_as, client_as):
    serve("a")
    job = queue.push(act, sticky_key="k")
    shown = rest_as("viewer").get(f"/api/v1/jobs/{job}").json()
    assert (shown["instance"], shown["instance_epoch"]) == ("a", Allocation.objects.get().epoch)
    assert shown["waits_for"] == "A worker of a starts it when it is free."
    page = client_as("viewer").get(reverse("atributo:job", args=[job])).content.decode()
    assert reverse("atributo:allocation", args=["k"]) in page
    assert reverse("atributo:instance", args=["a"]) in page
    assert shown["waits_for"] in page
    said = StringIO()
    call_command("queued_jobs", "show", job, stdout=said)
    assert shown["waits_for"] in said.getvalue()
    as_json = StringIO()
    call_command("queued_jobs", "show", job, "--json", stdout=as_json)
    assert json.loads(as_json.getvalue())[0]["waits_for"] == shown["waits_for"]
    assert f"a, epoch {shown['instance_epoch']}" in said.getvalue()


def test_depth_counts_sticky_jobs_too(queue, act, rest_as):
    queue.push(act)
    queue.push(act, sticky_key="k")
    queue.push(act, sticky_key="k", delay=3_600_000)
    (line,) = [
        q
        for q in rest_as("viewer").get("/api/v1/snapshot").json()["queues"]["queues"]
        if q["name"] == "work"
    ]
    assert (line["waiting"], line["delayed"]) == (2, 1)


def test_every_door_pushes_a_job_that_runs_beside_others(queue, act, rest_as):
    body = {"script": act, "sticky_key": "k", "concurrent": True}
    answer = rest_as("admin").post(
        "/api/v1/queues/work/jobs", body, content_type="application/json"
    )
    job = rest_as("admin").get(f"/api/v1/jobs/{answer.json()['id']}").json()
    assert (job["sticky_key"], job["concurrent"]) == ("k", True)
    words = ["work", act["mount"], act["name"], "--sticky-key", "k"]
    call_command("push", *words, "--concurrent", stdout=StringIO())
    call_command("push", *words, stdout=StringIO())
    kinds = QueuedJob.objects.order_by("pk").values_list("concurrent", flat=True)
    assert list(kinds) == [True, True, False]


def test_a_choice_that_is_none_is_refused(queue, act):
    with pytest.raises(BadPush, match="concurrent must be true or false"):
        queue.push(act, sticky_key="k", concurrent="perhaps")
