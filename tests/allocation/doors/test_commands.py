"""The terminal's door: instances, allocate, deallocate, jobs, job_id."""

import json

import pytest
from django.core.management import CommandError, call_command

from allocation.atributo import Atributo
from allocation.job_ids import ids
from allocation.models import IdNumber, Instance
from allocation.models.instance import STATES
from allocation.placement import drains
from atributo_site.core.models import Event
from atributo_site.curator.integrity import all_rules

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(capsys):
    """run("instances", "list") → what it printed; with --json the document."""

    def call(*words):
        call_command(*words)
        printed = capsys.readouterr().out
        return json.loads(printed) if "--json" in words else printed

    return call


@pytest.fixture
def two(db):
    ao = Atributo()
    ao.available("instance0")
    ao.available("instance1")
    return ao


def test_instances_are_listed_as_a_table_and_as_json(run, two):
    two.available("[red]", labels={"zone": "north"})
    assert "[red]" in run("instances", "list") and "zone=north" in run("instances", "list")
    listed = run("instances", "list", "--json", "--prefix", "inst")
    assert [row["id"] for row in listed] == ["instance0", "instance1"]
    drains.drain("instance1")
    listed = run("instances", "list", "--json", "--state", "draining")
    assert [row["id"] for row in listed] == ["instance1"]


def test_instances_are_listed_by_their_state(run, two):
    drains.drain("instance0")
    two.available("instance2")
    two.unavailable("instance2")
    ids = {
        state: [row["id"] for row in run("instances", "list", "--json", "--state", state)]
        for state in STATES
    }
    assert ids == {
        "available": ["instance1"],
        "unavailable": ["instance2"],
        "draining": ["instance0"],
        "drained": [],
        "dead": [],
    }


def test_the_life_of_an_instance(run):
    wishes = ["--weight", "2", "--capacity", "5", "--label", "zone=n", "--reason", "new"]
    made = run("instances", "available", "a", *wishes, "--json")
    assert (made["weight"], made["capacity"], made["labels"]) == (2, 5, {"zone": "n"})
    assert "is unavailable" in run("instances", "unavailable", "a")
    assert "is available" in run("instances", "restore", "a")
    assert run("instances", "drain", "a", "--deadline", "5", "--json")["state"] == "draining"
    assert run("instances", "drain", "a", "--stop", "--json")["state"] == "unavailable"
    assert run("instances", "remove", "a", "--json")["removed"]
    assert not Instance.objects.exists()
    assert set(Event.objects.values_list("channel", flat=True)) == {"command"}


def test_a_refusal_is_a_sentence_and_exit_code_1(run, two, capsys):
    two.allocate("job0")
    with pytest.raises(SystemExit) as refused:
        run("instances", "remove", "instance1")
    assert refused.value.code == 1
    assert "held by 1 job" in capsys.readouterr().err
    assert run("instances", "remove", "instance1", "--drop-jobs", "1").endswith("dropped.\n")


def test_a_refusal_in_json_names_its_code(run, capsys):
    with pytest.raises(SystemExit):
        run("allocate", "job0", "--json")
    assert json.loads(capsys.readouterr().out)["code"] == "no_instances"


def test_a_wrong_command_line_is_a_usage_error(run):
    with pytest.raises(CommandError):
        run("instances", "explode")


@pytest.mark.parametrize(
    "words",
    [
        ["instances", "list", "--limit", "-1"],
        ["jobs", "a", "--limit", "0"],
        ["instances", "available", "a", "--label", "zone"],
        ["instances", "drain", "instance0", "--deadline", "nan"],
        ["instances", "available", "a", "--weight", "1_0"],
        ["instances", "drain", "a", "--stop", "--force"],
        ["job_id", "make", "0"],
        ["job_id", "make", "9" * 30],
    ],
)
def test_a_number_or_label_that_cannot_be_meant_is_a_usage_error(run, words):
    with pytest.raises(CommandError):
        run(*words)


@pytest.mark.parametrize(
    "words",
    [
        ["instances", "available", "a", "--weight", "0"],
        ["instances", "drain", "instance0", "--deadline", "-1"],
        ["instances", "drain", "instance0", "--pace", "0"],
        ["rebalance", "--pace", "0"],
        ["instances", "remove", "nobody"],
    ],
)
def test_what_no_instance_can_have_is_refused_and_changes_nothing(run, two, words):
    before = Event.objects.count()
    with pytest.raises(SystemExit) as refused:
        run(*words)
    assert (refused.value.code, Event.objects.count()) == (1, before)


def test_allocate_plan_explain_jobs_and_deallocate(run, two):
    assert run("allocate", "job0", "--plan") == "job0: instance1\n"
    assert run("allocate", "job0") == "job0: instance1 (new)\n"
    assert run("allocate", "job0", "job1", "--json")[1]["instance_id"] == "instance0"
    assert "Chosen by md5-modulo from 2 instances" in run("allocate", "job0", "--explain")
    assert run("jobs", "instance1") == "job0\n"
    assert run("jobs", "instance1", "--after", "job0", "--json") == []
    assert run("deallocate", "job0", "nobody", "--json") == {"deallocated": 1}
    assert "before on instance1" in run("allocate", "job0", "--explain")


@pytest.mark.django_db(transaction=True)
def test_job_ids_are_made_and_read_and_the_number_is_given_back(run):
    ids.release()  # whatever an earlier test of this process has taken
    holders = IdNumber.objects.exclude(holder="").values_list("pk", "holder")
    before = set(holders.all())  # what dead processes of other tests left; it may be taken over
    made = run("job_id", "make", "3", "--json")
    assert len(set(made)) == 3
    assert run("job_id", "make").strip().isdigit()
    assert set(holders.all()) <= before
    said = run("job_id", "decode", "25022512311472342")
    assert said == "2025-02-25 12:31:14.723 UTC, worker 42 of 100\n"
    assert run("job_id", "decode", "25022512317372342", "--json")["exact"] is False


def test_verify_finds_nothing_wrong_and_then_a_wrong_counter(run, two):
    two.allocate("job0")
    assert f"{len(all_rules())} rules, 0 rows break them." in run("verify")
    Instance.objects.get(pk="instance1").loads.update(jobs=7)
    with pytest.raises(SystemExit):
        run("verify")
