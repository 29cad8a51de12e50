"""Labels that a job asks for, through REST, the terminal and the browser."""

import json

import pytest
from django.core.management import CommandError, call_command

from allocation.atributo import Atributo
from allocation.models import Allocation
from atributo_site.core.errors import AtributoError

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def zones(db):
    ao = Atributo()
    ao.available("a1", labels={"zone": "a"})
    ao.available("b1", labels={"zone": "b"})
    return ao


@pytest.fixture
def rest(rest_as):
    client = rest_as("operator")

    def call(method, path, body=None):
        given = {} if body is None else {"data": json.dumps(body)}
        return getattr(client, method)(f"/api/v1{path}", content_type="application/json", **given)

    return call


def asked(job_id):
    row = Allocation.objects.get(pk=job_id)
    return row.instance_id, row.labels


def test_rest_places_by_labels_and_shows_them(rest):
    for zone in ("a", "b"):
        answer = rest("put", f"/allocations/job-{zone}", {"labels": {"zone": zone}})
        assert (answer.status_code, answer.json()["instance_id"]) == (201, f"{zone}1")
    assert rest("get", "/allocations/job-a").json()["labels"] == {"zone": "a"}
    rest("put", "/allocations/any")
    assert rest("get", "/allocations/any").json()["labels"] is None


@pytest.mark.parametrize(
    ("body", "member"),
    [({"labels": "a"}, "labels"), ({"labels": {"zone": 1}}, "labels"), ({"zone": "a"}, "zone")],
)
def test_rest_refuses_labels_that_are_none(rest, body, member):
    answer = rest("put", "/allocations/job", body)
    assert answer.status_code == 400 and member in json.dumps(answer.json())
    assert not Allocation.objects.exists()


def test_rest_names_the_labels_that_nobody_has(rest):
    answer = rest("put", "/allocations/job", {"labels": {"zone": "c"}})
    assert (answer.status_code, answer.json()["code"]) == (409, "no_instance_available")
    body = {"job_ids": ["x", "y"], "labels": {"zone": "c"}}
    for each in rest("post", "/allocations/batch", body).json()["results"]:
        assert each["code"] == "no_instance_available" and each["detail"].endswith("zone=c")


def test_a_batch_and_a_plan_obey_labels(rest):
    body = {"job_ids": ["x", "y"], "labels": {"zone": "b"}}
    planned = rest("post", "/allocations/plan", body).json()["instances"]
    assert planned == {"x": "b1", "y": "b1"}
    results = rest("post", "/allocations/batch", body).json()["results"]
    assert [each["instance_id"] for each in results] == ["b1", "b1"]
    wrong = rest("post", "/allocations/batch", {**body, "operation": "deallocate"})
    assert wrong.status_code == 400


def test_the_command_takes_labels():
    call_command("allocate", "job0", "--label", "zone=b")
    call_command("allocate", "job1", "job2", "--label", "zone=a")
    assert [asked(f"job{n}")[0] for n in range(3)] == ["b1", "a1", "a1"]
    with pytest.raises(CommandError, match="write name=value"):
        call_command("allocate", "job3", "--label", "zone")


def test_the_command_refuses_labels_that_nobody_has():
    with pytest.raises((AtributoError, CommandError, SystemExit)):
        call_command("allocate", "job", "--label", "zone=c")
    assert not Allocation.objects.exists()


def test_the_browser_takes_labels(client_as):
    client = client_as("operator")
    client.post("/allocations/", {"job_id": "job", "labels": "zone=b"})
    assert asked("job") == ("b1", {"zone": "b"})
    assert "zone=b" in client.get("/allocations/job/").content.decode()
    client.post("/allocations/late/allocate", {"labels": " zone=a "})
    assert asked("late") == ("a1", {"zone": "a"})
    for text, said in [("zone", "write name=value"), ("zone=c", "has the labels zone=c")]:
        page = client.post("/allocations/", {"job_id": "no", "labels": text}, follow=True)
        assert said in page.content.decode()


def test_where_weights_are_set_it_says_who_ignores_them(client_as, rest, capsys):
    page = client_as("operator").get("/instances/a1/").content.decode()
    assert "which is in use here, ignores the weight" in " ".join(
        page.replace("<code>", "").replace("</code>", "").split()
    )
    with pytest.raises(SystemExit):
        call_command("instances", "available", "--help")
    assert "md5-modulo" in capsys.readouterr().out
