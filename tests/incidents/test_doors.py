"""Incidents in the browser, over REST and from the terminal: list, show, acknowledge."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from atributo_site.core.incidents.symptom import Symptom
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.incidents.rows import settle
from atributo_site.models import Incident
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db
API = "/api/v1/incidents"


def symptom(number, severity="warning", **words):
    words = {"title": f"Thing {number} is wrong", **words}
    return Symptom(kind="thing.wrong", subject=f"thing:{number}", severity=severity, **words)


@pytest.fixture
def everything_runs():
    HeldLease.take("curator", "host:1", 600, name="first")
    HeldLease.take("worker/w1", "host:2", 600)


@pytest.fixture
def one(everything_runs):
    settle([symptom(1, detail="Because of that.", command="manage.py doctor")])
    return Incident.objects.get()


@pytest.fixture
def several(everything_runs):
    """Make two open ones, one that ended a moment ago and one that ended two days ago."""
    settle([symptom(number) for number in (1, 2)])
    settle([symptom(3), symptom(4, "error")])
    Incident.objects.filter(subject="thing:1").update(resolved_at=from_now(-2 * 86400))


def titles(answer, part):
    return [row["title"] for row in answer.json()[part]]


def test_open_ones_come_first_and_the_worst_of_them_before_all(several, client_as):
    page = client_as("viewer").get("/incidents/").text
    places = [page.index(f"Thing {number} is wrong") for number in (4, 3, 2)]
    assert places == sorted(places)
    assert "Thing 1 is wrong" not in page
    assert "Thing 1 is wrong" in client_as("viewer").get("/incidents/?since=7d").text


def test_they_are_filtered_by_severity(several, client_as):
    page = client_as("viewer").get("/incidents/?severity=error").text
    assert "Thing 4 is wrong" in page and "Thing 3 is wrong" not in page


@pytest.mark.parametrize("query", ["severity=bad", "since=never", "until=x"])
def test_a_wrong_filter_is_said(query, client_as):
    answer = client_as("viewer").get(f"/incidents/?{query}")
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


def test_empty_lists_say_so(everything_runs, client_as):
    client = client_as("viewer")
    page = client.get("/incidents/").text
    assert "Nothing is wrong" in page and "Nothing was resolved in this time" in page
    assert "No open incident matches" in client.get("/incidents/?severity=error").text


def test_without_a_curator_what_is_wrong_is_found_all_the_same(client_as, rest_as):
    make_job(make_queue(), due_at=database_now() - timedelta(seconds=90))
    client = client_as("viewer")
    for path in ("/incidents/", "/"):
        page = client.get(path).text
        assert "No curator is active" in page and "No worker serves queue mail" in page
    found = rest_as("viewer").get(API).json()["open"]
    assert {row["id"] for row in found} == {None}
    assert not Incident.objects.exists()


def test_the_overview_shows_who_acknowledged_it(client_as, everything_runs):
    make_job(make_queue(), due_at=database_now() - timedelta(seconds=90))
    settle(
        [
            Symptom(
                kind="queue.late", subject="queue:mail", severity="warning", title="The queue mail"
            )
        ]
    )
    client = client_as("operator")
    row = Incident.objects.get()
    assert badge(client.get("/queues/").text) == badge(client.get("/").text) == "1"
    client.post(f"/incidents/{row.pk}/acknowledge", {"note": "I look"})
    page = client.get("/").text
    assert "acknowledged by operator" in page and f'href="/incidents/{row.pk}/"' in page
    assert badge(page) is badge(client.get("/queues/").text) is None


def test_every_page_and_every_live_part_counts_the_same(client_as, everything_runs):
    settle([symptom(1, severity="notice"), symptom(2)])
    client = client_as("viewer")
    paths = ("/", "/incidents/", "/queues/", "/jobs/")
    assert {badge(client.get(path).text) for path in paths} == {"2"}
    parts = [client.get(path, headers={"HX-Request": "true"}).text for path in paths]
    assert {badge(part) for part in parts} == {"2"}
    assert all('id="open-incidents" hx-swap-oob="true"' in part for part in parts)


def badge(page):
    tag, _, rest = page.partition('<b class="count"')[2].partition(">")
    return None if " hidden" in tag else rest.partition("<")[0]


def test_the_navigation_counts_a_missing_curator(client_as):
    assert badge(client_as("viewer").get("/queues/").text) == "1"


def test_the_page_of_one_tells_everything(one, client_as):
    page = client_as("viewer").get(f"/incidents/{one.pk}/").text
    for text in (one.title, "Because of that.", "manage.py doctor", "incident.opened"):
        assert text in page
    assert client_as("viewer").get("/incidents/999/").status_code == 404


def test_acknowledging_keeps_who_when_and_why(one, client_as):
    client = client_as("operator")
    answer = client.post(f"/incidents/{one.pk}/acknowledge", {"note": " a cable "}, follow=True)
    assert "Acknowledged: it stays on the list" in answer.text
    one.refresh_from_db()
    assert (one.state, one.acknowledged_by, one.note) == ("acknowledged", "operator", "a cable")
    event = Event.objects.get(kind="incident.acknowledged")
    assert (event.subject, event.actor, event.facts["note"]) == (
        f"incident:{one.pk}",
        "operator",
        "a cable",
    )


def test_it_is_acknowledged_once_and_only_while_it_is_open(one, client_as, rest_as):
    rest = rest_as("operator", name="ada")
    path = f"{API}/{one.pk}/acknowledge"
    assert rest.post(path, {}, "application/json").json()["state"] == "acknowledged"
    again = rest.post(path, {}, "application/json")
    assert again.status_code == 409 and "ada has acknowledged" in again.text
    page = client_as("operator").post(f"/incidents/{one.pk}/acknowledge", follow=True)
    assert "ada has acknowledged" in page.text
    Incident.objects.update(resolved_at=database_now(), acknowledged_at=None)
    late = rest.post(path, {}, "application/json")
    assert late.status_code == 409 and "is resolved" in late.text
    assert Event.objects.filter(kind="incident.acknowledged").count() == 1


def test_a_viewer_looks_but_does_not_acknowledge(one, client_as, rest_as):
    client, rest = client_as("viewer"), rest_as("viewer")
    assert "Acknowledge" not in client.get("/incidents/").text
    assert 'name="note"' not in client.get(f"/incidents/{one.pk}/").text
    assert client.post(f"/incidents/{one.pk}/acknowledge").status_code == 403
    assert rest.post(f"{API}/{one.pk}/acknowledge").status_code == 403
    assert rest.get(f"{API}/{one.pk}").status_code == 200
    one.refresh_from_db()
    assert one.state == "open"


def test_rest_lists_open_and_resolved_ones(several, rest_as):
    rest = rest_as("viewer")
    found = rest.get(API)
    assert titles(found, "open") == ["Thing 4 is wrong", "Thing 3 is wrong"]
    assert titles(found, "resolved") == ["Thing 2 is wrong"]
    long_ago = (database_now() - timedelta(days=7)).isoformat().replace("+00:00", "Z")
    both = rest.get(API, {"since": long_ago, "limit": 1})
    assert titles(both, "resolved") == ["Thing 2 is wrong"] and both.json()["more"]
    assert titles(rest.get(API, {"severity": "error"}), "open") == ["Thing 4 is wrong"]
    before = rest.get(API, {"until": long_ago}).json()
    assert before == {"open": [], "resolved": [], "more": False}


@pytest.mark.parametrize("query", ["severity=bad", "since=x", "limit=0", "limit=9999", "odd=1"])
def test_rest_names_what_is_wrong_with_a_query(query, rest_as):
    answer = rest_as("viewer").get(f"{API}?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.text


def test_rest_refuses_a_note_that_is_too_long(one, rest_as):
    note = {"note": "x" * 2001}
    answer = rest_as("operator").post(f"{API}/{one.pk}/acknowledge", note, "application/json")
    assert answer.status_code == 400 and "note" in answer.text


def test_the_schema_describes_incidents(rest_as):
    schema = rest_as("viewer").get("/api/v1/schema?format=json").json()
    listed = schema["paths"]["/api/v1/incidents"]["get"]
    assert {each["name"] for each in listed["parameters"]} == {
        "severity",
        "since",
        "until",
        "limit",
    }
    assert "post" in schema["paths"]["/api/v1/incidents/{id}/acknowledge"]


def test_the_command_lists_shows_and_acknowledges(one, capsys):
    call_command("incidents", "list")
    assert "Thing 1 is wrong" in capsys.readouterr().out
    call_command("incidents", "acknowledge", str(one.pk), "--note", "a cable", "--json")
    assert json.loads(capsys.readouterr().out)["note"] == "a cable"
    call_command("incidents", "show", str(one.pk))
    assert "a cable" in capsys.readouterr().out


def test_the_command_filters(several, capsys):
    call_command("incidents", "list", "--severity", "error", "--since", "7d", "--json")
    assert [row["title"] for row in json.loads(capsys.readouterr().out)] == ["Thing 4 is wrong"]
    call_command("incidents", "list", "--since", "7d", "--json")
    assert len(json.loads(capsys.readouterr().out)) == 4


def test_the_command_says_that_nothing_is_wrong(everything_runs, capsys):
    call_command("incidents", "list")
    assert capsys.readouterr().out == "Nothing is wrong, and nothing was.\n"


def test_the_command_refuses_what_it_cannot_read(everything_runs, capsys):
    with pytest.raises(CommandError, match="neither an age like 2h"):
        call_command("incidents", "list", "--since", "soon")
    with pytest.raises(SystemExit) as stop:
        call_command("incidents", "acknowledge", "999")
    assert stop.value.code == 1
    assert "There is no incident 999." in capsys.readouterr().err
