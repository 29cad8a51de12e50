"""Schedules by REST and by command."""

import json

import pytest
from django.core.management import call_command

from queues.models import Schedule

ADDRESS = "/api/v1/schedules"


@pytest.fixture
def api(act, queue, rest_as):
    return rest_as("operator")


@pytest.fixture
def nightly(api, act):
    given = {"name": "nightly", "script": act, "queue": "work", "zone": "Europe/Berlin"}
    answer = api.post(
        ADDRESS, {**given, "rule": {"cron": "30 2 * * *"}}, content_type="application/json"
    )
    assert answer.status_code == 201, answer.json()
    return answer.json()


def test_a_schedule_by_rest_from_its_creation_to_its_end(api, nightly):
    one = f"{ADDRESS}/nightly"
    assert (nightly["state"], nightly["said"]) == ("active", "cron 30 2 * * *")
    assert api.get(ADDRESS).json()["results"][0]["name"] == "nightly"
    changed = api.patch(
        one, {"overlap": "beside", "jitter": "5s"}, content_type="application/json"
    ).json()
    assert (changed["overlap"], changed["jitter"]) == ("beside", 5000)
    paused = api.post(
        f"{one}/pause", {"reason": "holidays"}, content_type="application/json"
    ).json()
    assert (paused["state"], paused["pause_reason"], paused["next_at"]) == (
        "paused",
        "holidays",
        None,
    )
    assert api.post(f"{one}/resume", content_type="application/json").json()["state"] == "active"
    job_id = api.post(f"{one}/run", content_type="application/json").json()["job_id"]
    [run] = api.get(f"{one}/runs").json()["results"]
    assert (run["kind"], run["job_id"]) == ("manual", job_id)
    assert api.delete(one).status_code == 204
    assert api.get(one).status_code == 404


def test_a_preview_marks_the_night_and_tells_the_difference(api, nightly):
    given = {
        "rule": {"cron": "30 2 * * *"},
        "zone": "Europe/Berlin",
        "starts_at": "2028-03-25T00:00",
    }
    runs = api.post("/api/v1/schedule-preview", given, content_type="application/json").json()[
        "runs"
    ]
    assert len(runs) == 20
    assert "does not exist on 26 March: runs at 03:00" in runs[1]["note"]
    given = {"rule": {"cron": "30 2 * * mon"}}
    change = api.post(f"{ADDRESS}/nightly/preview", given, content_type="application/json").json()
    assert change["difference"].startswith("6 runs fewer in the next 7 days")
    assert Schedule.objects.get().rule == {"cron": "30 2 * * *"}


@pytest.mark.parametrize(
    "given, said",
    [
        ({"rule": {"cron": "99 * * * *"}}, "the minute field"),
        ({"rule": {"cron": "0 0 30 2 *"}}, "30 February"),
        ({"zone": "Mars/Base"}, "no time zone"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(api, nightly, given, said):
    answer = api.patch(f"{ADDRESS}/nightly", given, content_type="application/json")
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_a_viewer_may_look_but_not_change(nightly, rest_as):
    viewer = rest_as("viewer")
    assert viewer.get(f"{ADDRESS}/nightly").status_code == 200
    assert viewer.post(f"{ADDRESS}/nightly/run").status_code == 403


def test_secrets_in_the_data_are_masked(api, nightly):
    api.patch(
        f"{ADDRESS}/nightly", {"data": {"password": "hunter2"}}, content_type="application/json"
    )
    assert "hunter2" not in api.get(f"{ADDRESS}/nightly").content.decode()


def test_a_schedule_by_command(queue, act, capsys):
    def said(*words):
        call_command("schedules", *words)
        return capsys.readouterr().out

    created = said(
        "create", "nightly", f"{act['mount']}/act", "--cron", "@daily", "--queue", "work"
    )
    assert "nightly: active, cron @daily in UTC, runs /probe/act on queue work" in created
    assert "every 1h30m" in said("change", "nightly", "--every", "90m")
    assert "nightly" in said("list")
    assert len(json.loads(said("show", "nightly", "--json"))["upcoming"]) == 20
    assert "runs fewer" in said("preview", "nightly", "--cron", "@weekly")
    assert "paused: later" in said("pause", "nightly", "--reason", "later")
    assert "active" in said("resume", "nightly")
    job_id = said("run", "nightly").strip()
    assert job_id in said("runs", "nightly")
    said("delete", "nightly")
    assert not Schedule.objects.exists()
