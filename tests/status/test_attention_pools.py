"""The dashboard reports backends, and each item links to its screen."""

import pytest

from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.status.snapshot import attention, snapshot
from pools.models import Backend, Pool, PoolSnapshot
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db
ADDRESS = {"name": "a.example", "address": "10.0.0.1", "port": 80}
WHY = "connection refused"


def report(process, state="running", **why_dead):
    pool = {
        "state": state,
        "backends": {"k1": ADDRESS, "k2": {**ADDRESS, "address": "10.0.0.2"}},
        "why_dead": why_dead,
        "options": {"domain": "svc.example"},
    }
    return PoolSnapshot.objects.create(process=process, body={"pool": {"p": pool}})


def about(start):
    found = snapshot(database_now())["attention"]
    return [item for item in found if item["screen"].startswith(start)]


def test_a_dead_backend_needs_attention_with_the_reason():
    report("web")
    assert about("/pools/") == []
    report("worker/one", k1=WHY)
    report("worker/two", k1=WHY)
    (item,) = about("/pools/")
    assert (item["level"], item["screen"]) == ("warning", "/pools/live/")
    assert item["title"] == "svc.example: 1 of 2 backends are dead"
    assert item["detail"] == f"10.0.0.1:80 in worker/one: {WHY}"


def test_a_pool_without_a_backend_that_lives_is_an_error():
    report("web", "failed", k1=WHY, k2=WHY)
    (item,) = about("/pools/")
    assert (item["level"], item["title"]) == ("error", "svc.example: 2 of 2 backends are dead")


def test_what_a_process_said_long_ago_is_not_said_again():
    PoolSnapshot.objects.filter(pk=report("web", k1=WHY).pk).update(at=from_now(-60))
    assert about("/pools/") == []


def test_a_refused_backend_needs_attention(client_as):
    pool = Pool.objects.create(name="svc", domain="svc.example")
    Backend.objects.create(
        pool=pool, key="k", instance_id="169.254.0.1:80", port=80, state="refused"
    )
    (item,) = about("/pools/")
    assert (item["level"], item["title"]) == ("warning", "1 backend is refused")
    assert "169.254.0.1" in client_as("viewer").get(item["screen"]).text


def test_everything_leads_to_a_screen_of_its_own(client_as, settings):
    """Every item at once has an address that answers."""
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    child = {"name": "web", "restarts": 3, "last_exit": "signal 9"}
    HeldLease.take("supervisor/up", "node:up", 3600, children=[child])
    HeldLease.take("worker/silent", "node:1", 0)
    Pool.objects.create(name="svc", domain="svc.example", state="failed", last_error="nxdomain")
    screens = {item["title"]: item["screen"] for item in snapshot(database_now())["attention"]}
    assert screens == {
        "Redis is degraded": "/system/",
        "No curator is active": "/transactions/curators/",
        "No worker is running": "/system/processes/",
        "Worker silent is silent": "/system/processes/",
        "Watched name svc: failed": "/pools/watched/svc/",
        "web was restarted 3 times": "/system/processes/",
    }
    client = client_as("viewer")
    assert {client.get(screen).status_code for screen in screens.values()} == {200}


def test_a_group_of_failures_leads_to_its_own_jobs(client_as):
    queue = make_queue("mail")
    ours = make_job(queue, "failed", fingerprint="ours", error="boom")
    other = make_job(queue, "failed", fingerprint="other", error="else")
    group = {"fingerprint": "ours", "count": 7, "error": "boom"}
    state = {**snapshot(database_now()), "queues": {"failing": [group]}}
    (screen,) = [item["screen"] for item in attention(state) if "jobs failed" in item["title"]]
    page = client_as("viewer").get(screen).text
    assert f"/jobs/{ours.pk}/" in page and f"/jobs/{other.pk}/" not in page
