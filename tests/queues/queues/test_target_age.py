"""The target age of a queue: in the row, by command and by REST."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError

import queues
from atributo_site.core.models import Event
from queues.catalogue import set_target_age
from queues.errors import BadQueue, QueueNotFound
from queues.models import Queue

PATH = "/api/v1/queues/work"
JSON = "application/json"


def own():
    return Queue.objects.get(name="work").target_age_seconds


def test_a_change_has_one_event(queue):
    assert set_target_age("work", 10) is True
    assert set_target_age("work", 10) is False
    assert set_target_age("work", None) is True
    assert set_target_age("work", None) is False
    events = Event.objects.filter(subject="queue:work", kind="queue.changed").order_by("id")
    assert [event.facts["target_age_seconds"] for event in events] == [10, None]


@pytest.mark.parametrize("seconds", [0, -1, 31_536_001, 1.5, True, "10"])
def test_an_age_must_make_sense(queue, seconds):
    with pytest.raises(BadQueue, match="target_age_seconds must be a whole number from 1 to"):
        set_target_age("work", seconds)
    assert own() is None


def test_the_database_refuses_what_makes_no_sense(queue):
    with pytest.raises(IntegrityError, match="queue_target_age_in_range"):
        Queue.objects.filter(name="work").update(target_age_seconds=0)


def test_an_unknown_queue_has_none(db):
    with pytest.raises(QueueNotFound):
        set_target_age("nowhere", 10)


def test_a_queue_that_is_made_again_has_the_default(queue):
    set_target_age("work", 10)
    queues.delete("work")
    queues.create("work")
    assert own() is None


def run(*words):
    said = StringIO()
    call_command("queue", *words, stdout=said)
    return said.getvalue()


def test_the_age_by_command(queue):
    assert "the oldest may wait 10s" in run("create", "work", "--target-age-seconds", "10")
    run("create", "work", "--max-workers", "3")
    assert own() == 10
    assert "the oldest may wait 30s" in run("create", "work", "--target-age-seconds", "default")
    assert own() is None


@pytest.mark.parametrize("seconds", ["0", "soon", "1.5", "31536001"])
def test_the_command_names_what_is_wrong(queue, seconds):
    with pytest.raises(CommandError, match="whole number from 1 to 31536000, or 'default'"):
        run("create", "work", "--target-age-seconds", seconds)


def test_the_list_tells_who_is_late(queue, act):
    set_target_age("work", 3600)
    queue.push(act)
    (line,) = [each for each in json.loads(run("list", "--json")) if each["name"] == "work"]
    assert (line["lateness"], line["target_age_seconds"]) == ("fine", 3600)
    assert "None" not in run("list")


def test_the_age_by_rest(queue, rest_as):
    admin = rest_as("admin")
    answer = admin.patch(PATH, {"target_age_seconds": 10}, JSON)
    assert (answer.status_code, answer.json()["target_age_seconds"], own()) == (200, 10, 10)
    admin.patch(PATH, {"max_workers": 3}, JSON)
    assert own() == 10
    admin.patch(PATH, {"target_age_seconds": None}, JSON)
    assert (admin.get(PATH).json()["target_age_seconds"], own()) == (None, None)
    made = admin.post("/api/v1/queues", {"name": "new", "target_age_seconds": 5}, JSON)
    assert made.json()["target_age_seconds"] == 5


@pytest.mark.parametrize("seconds", [0, -5, 31_536_001, "soon", [], 1.5])
def test_rest_names_what_is_wrong(queue, rest_as, seconds):
    answer = rest_as("admin").patch(PATH, {"target_age_seconds": seconds}, JSON)
    assert (answer.status_code, own()) == (400, None)
    assert "target_age_seconds" in answer.text


def test_an_operator_does_not_set_it(queue, rest_as):
    answer = rest_as("operator").patch(PATH, {"target_age_seconds": 10}, JSON)
    assert (answer.status_code, own()) == (403, None)
