"""Watched names over REST."""

import json
from urllib.parse import quote

import pytest

from atributo_site.core.models.clock import from_now
from pools.models import Backend, Pool, PoolSnapshot
from tests.pools.site.watching import states

pytestmark = pytest.mark.django_db
NEW = {"name": "svc", "domain": "svc.example", "grace_seconds": 5}


def send(client, method, path, body=None, **headers):
    return client.generic(
        method, f"/api/v1{path}", *([] if body is None else [json.dumps(body)]),
        content_type="application/json", headers=headers,
    )  # fmt: skip


def test_a_name_is_watched_read_changed_and_forgotten(rest_as):
    client = rest_as("admin")
    made = send(client, "POST", "/pools", NEW)
    assert (made.status_code, made.json()["epoch"], made["ETag"]) == (201, 1, '"1"')
    changed = send(client, "PATCH", "/pools/svc", {"default_port": 81}, **{"If-Match": '"1"'})
    assert (changed.json()["default_port"], changed.json()["epoch"]) == (81, 2)
    assert [row["name"] for row in send(client, "GET", "/pools").json()["results"]] == ["svc"]
    assert send(client, "DELETE", "/pools/svc").status_code == 204
    assert send(client, "GET", "/pools/svc").json()["code"] == "unknown_pool"


@pytest.mark.parametrize(
    ("wrong", "member"),
    [
        ({"domain": "foo bar"}, "domain"),
        ({"domain": "256.1.1.1"}, "domain"),
        ({"name": "a/b"}, "name"),
        ({"name": "-"}, "name"),
        ({"default_port": 0}, "default_port"),
        ({"nameservers": ["8.8.8.8"]}, "nameservers"),
        ({"nameservers": "8.8.8.8"}, "nameservers"),
        ({"service": "_x..y"}, "service"),
        ({"recovery": {}}, "recovery"),
        ({"recovery": {"default": {"retries": -1, "timeout": 1, "delay": 1}}}, "recovery"),
        ({"recovery": {"default": {"retries": 1, "timeout": 10**9, "delay": 1}}}, "recovery"),
        ({"ttl_floor_ms": 999}, "ttl_floor_ms"),
        ({"ttl_floor_ms": 9000, "ttl_ceiling_ms": 8000}, "ttl_floor_ms"),
        ({"removal_share": 1.5}, "removal_share"),
        ({"grace_seconds": -1}, "grace_seconds"),
        ({"is_watched": "perhaps"}, "is_watched"),
        ({"speed": 1}, "speed"),
    ],
)
def test_wrong_settings_are_named(rest_as, wrong, member):
    answer = send(rest_as("admin"), "POST", "/pools", {**NEW, **wrong})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [member])
    assert not Pool.objects.exists()


def test_a_name_in_use_and_an_old_version_are_refused(rest_as):
    client = rest_as("admin")
    send(client, "POST", "/pools", NEW)
    assert send(client, "POST", "/pools", NEW).json()["code"] == "pool_exists"
    old = send(client, "PATCH", "/pools/svc", {"default_port": 5}, **{"If-Match": '"7"'})
    assert (old.status_code, old.json()["code"]) == (412, "epoch_changed")


def test_resolve_now_is_rate_limited_by_the_floor(rest_as, watching):
    client = rest_as("operator")
    watching.targets(1)
    watching.name(ttl_floor_ms=600_000)
    assert send(client, "POST", "/pools/svc/resolve").status_code == 202
    again = send(client, "POST", "/pools/svc/resolve")
    assert (again.status_code, again.json()["code"]) == (429, "asked_too_often")
    assert 1 <= int(again["Retry-After"]) <= 600
    Pool.objects.update(asked_at=from_now(-601))
    assert send(client, "POST", "/pools/svc/resolve").status_code == 202


def test_a_paused_name_is_not_looked_up_now(rest_as, watching):
    watching.name(is_watched=False)
    answer = send(rest_as("operator"), "POST", "/pools/svc/resolve")
    assert (answer.status_code, answer.json()["code"]) == (409, "pool_paused")


def test_an_operator_pauses_and_resumes_a_name(rest_as, watching):
    watching.name()
    client, epoch = rest_as("operator"), Pool.objects.get().epoch
    paused = send(client, "POST", "/pools/svc/pause", **{"If-Match": f'"{epoch}"'})
    assert (paused.status_code, paused.json()["is_watched"]) == (200, False)
    late = send(client, "POST", "/pools/svc/resume", **{"If-Match": f'"{epoch}"'})
    assert (late.status_code, Pool.objects.get().is_watched) == (412, False)
    assert send(client, "POST", "/pools/svc/resume").json()["is_watched"] is True
    assert send(rest_as("viewer"), "POST", "/pools/svc/pause").status_code == 403


def test_a_name_too_long_for_its_service_is_refused(rest_as):
    body = {**NEW, "domain": ".".join(["a" * 61] * 4)}
    assert "service" in send(rest_as("admin"), "POST", "/pools", body).json()["errors"]


def test_resolve_now_makes_the_watcher_look_before_the_ttl(rest_as, watching):
    watching.targets(1, 2, 3, ttl=3000)
    watching.name()
    watching.sweep()
    watching.targets(1, 2, 3, 4, ttl=3000)
    watching.driver.advance(5_100)
    Pool.objects.update(looked_up_at=from_now(-6))
    assert send(rest_as("operator"), "POST", "/pools/svc/resolve").status_code == 202
    assert watching.sweep() == 1


def test_backends_and_changes_are_listed_and_a_backend_is_drained(rest_as, watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    key = Backend.objects.get(port=8002).key
    PoolSnapshot.objects.create(
        process="web", body={"pool": {"p": {"connections": {key: {"idle": 2}}, "why_dead": {}}}}
    )
    client = rest_as("operator")
    found = send(client, "GET", "/pools/svc/backends").json()["results"]
    assert {row["instance_id"]: row["connections"] for row in found} == {
        "10.0.0.1:8001": {}, "10.0.0.2:8002": {"idle": 2},
    }  # fmt: skip
    body = {"administrative": "drain", "reason": "disks"}
    path = f"/pools/svc/backends/{quote(key, safe='').replace('%2F', '%1F')}"
    assert send(client, "PATCH", path, body).json()["administrative_by"] == "operator"
    assert states()["10.0.0.2:8002"] == "draining"
    kinds = [row["kind"] for row in send(client, "GET", "/pools/svc/changes").json()["results"]]
    assert kinds == ["administered", "added", "added", "running"]


def test_the_look_up_tool_shows_every_step(rest_as, watching):
    watching.targets(1)
    server = f"{watching.server.address}:{watching.server.port}"
    body = {"host": "svc.example", "nameservers": [server], "timeout_ms": 10_000}
    found = send(rest_as("operator"), "POST", "/resolve", body).json()
    assert (found["state"], [b["address"] for b in found["backends"]]) == ("running", ["10.0.0.1"])
    first = found["steps"][0]
    assert (first["type"], first["server"], first["attempt"]) == ("SRV", server, 1)
    assert (first["result"], first["ttl_seconds"]) == ("1 records", 10)


def test_a_look_up_that_fails_says_why(rest_as, watching):
    watching.server.fault("*", "*", "refused")
    server = f"127.0.0.1:{watching.server.port}"
    body = {"host": "svc.example", "nameservers": [server], "timeout_ms": 10_000}
    found = send(rest_as("operator"), "POST", "/resolve", body).json()
    assert (found["state"], found["backends"]) == ("failed", [])
    assert "REFUSED" in found["error"]


@pytest.mark.parametrize("host", ["", "a b", "1.2.3", "svc:99999", "[::1", "svc.example:x"])
def test_a_host_that_makes_no_sense_is_refused(rest_as, host):
    assert send(rest_as("operator"), "POST", "/resolve", {"host": host}).status_code == 400


def test_the_kang_snapshot_joins_all_processes_with_their_age(rest_as):
    for process in ("web", "curator"):
        PoolSnapshot.objects.create(process=process, body={"pool": {"p": {"state": "running"}}})
    found = send(rest_as("viewer"), "GET", "/kang/snapshot").json()
    assert set(found["pool"]) == {"web/p", "curator/p"}
    assert found["types"] == ["pool", "set", "dns_res"]
    assert 0 <= found["pool"]["web/p"]["age_seconds"] < 60
