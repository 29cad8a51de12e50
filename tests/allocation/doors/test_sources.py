"""What a program says of instances by REST or a command ranks below what people decided."""

import json

import pytest
from django.core.management import call_command
from django.test import Client

from allocation.instances import availability
from allocation.models import Instance
from atributo_site.core.models import Event
from atributo_site.web import tokens

pytestmark = pytest.mark.django_db
INSTANCES = "/api/v1/instances"


@pytest.fixture
def caller(user_as):
    """caller("worker")("post", "/web-1/available") → the answer to a token of that source."""

    def make(source):
        text = tokens.make_token(user_as("operator"), source, "operate", 1, source)[1]
        client = Client(headers={"Authorization": f"Bearer {text}"})

        def call(method, path="", body=None):
            data = json.dumps(body or {})
            return getattr(client, method)(INSTANCES + path, data, content_type="application/json")

        return call

    return make


@pytest.fixture
def service(caller):
    return caller("worker")


@pytest.fixture
def person(caller):
    return caller("manual")


def test_a_service_that_registers_itself_again_stays_unavailable(service, person):
    made = service("post", "", {"id": "web-1", "lease_seconds": 30})
    assert (made.status_code, made.json()["source"]) == (201, "worker")
    assert person("post", "/web-1/unavailable").json()["state"] == "unavailable"
    for path, body in (("", {"id": "web-1"}), ("/web-1/available", {})):
        again = service("post", path, body)
        assert (again.status_code, again.json()["state"]) == (200, "unavailable")
    assert person("post", "/web-1/restore").json()["source"] == "worker"
    assert service("post", "/web-1/unavailable").json()["state"] == "unavailable"
    assert service("post", "", {"id": "web-1"}).json()["state"] == "available"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "/web-1/restore", {}),
        ("delete", "/web-1", None),
        ("delete", "/web-1/drain", None),
        ("post", "/web-1/drain", {"force": True}),
    ],
)
def test_a_program_finds_no_way_around_a_persons_drain(service, person, method, path, body):
    service("post", "", {"id": "web-1"})
    person("post", "/web-1/drain", {"reason": "heat"})
    answer = service(method, path, body)
    assert (answer.status_code, answer.json()["code"]) == (409, "outranked")
    assert Instance.objects.get(pk="web-1").state == "draining"
    assert person(method, path, body).status_code in (200, 204)


def test_a_program_does_not_drain_what_a_person_made_available(service, person):
    person("post", "", {"id": "web-1"})
    assert service("post", "/web-1/drain").json()["code"] == "outranked"
    assert service("post", "/web-1/unavailable").json()["state"] == "available"


def test_a_program_removes_what_nobody_else_decided_about(service):
    service("post", "", {"id": "web-1"})
    assert service("delete", "/web-1").status_code == 204
    service("post", "", {"id": "web-2"})
    Instance.objects.filter(pk="web-2").update(available=False, is_dead=True, source="manual")
    assert service("post", "/web-2/restore").json()["state"] == "available"


@pytest.mark.parametrize("verb", ["available", "restore"])
def test_a_command_of_a_program_says_so(verb, capsys):
    availability.make_available("web-1", source="worker")
    call_command("instances", "unavailable", "web-1")
    try:
        call_command("instances", verb, "web-1", "--source", "worker")
    except SystemExit as left:
        assert left.code == 1 and "a person decided about web-1" in capsys.readouterr().err
    assert Instance.objects.get(pk="web-1").state == "unavailable"
    call_command("instances", verb, "web-1")
    assert Instance.objects.get(pk="web-1").state == "available"


def test_the_source_of_a_token_is_chosen_shown_and_recorded(client_as, rest_as):
    body = {"name": "service", "level": "operate", "source": "worker"}
    made = client_as("operator").post("/api/v1/tokens", body, "application/json").json()
    assert made["source"] == "worker"
    bearer = {"Authorization": f"Bearer {made['token']}"}
    assert Client(headers=bearer).get("/api/v1/me").json()["source"] == "worker"
    assert rest_as("operator").get("/api/v1/me").json()["source"] == "manual"
    assert Event.objects.get(subject=f"token:{made['id']}").facts["source"] == "worker"


def test_the_browser_makes_tokens_of_programs(client_as):
    client = client_as("operator")
    number = client.get("/system/tokens/").context["number"]
    given = {"name": "svc", "level": "operate", "days": 1, "number": number, "source": "worker"}
    page = client.post("/system/tokens/", given)
    assert page.context["made"].source == "worker"
    assert "a program" in page.text


def test_a_programs_token_makes_no_persons_token(user_as):
    by, _ = tokens.make_token(user_as("admin"), "svc", "administer", 1, "worker")
    with pytest.raises(tokens.TokenRefused, match="program"):
        tokens.make_token(user_as("admin"), "up", "view", 1, by=by)
    assert tokens.make_token(user_as("admin"), "x", "view", 1, "worker", by=by)
