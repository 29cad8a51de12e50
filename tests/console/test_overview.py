"""The overview: attention, charts and sections."""

from datetime import timedelta

import pytest
import time_machine

from atributo_site.console import overview
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from atributo_site.status.snapshot import snapshot

GONE = "unix:///nowhere/valkey.sock"


@pytest.fixture
def everything_runs(db):
    for role in ("web/web", "worker/worker-1", "curator/curator-1"):
        HeldLease.take(role, f"node:{role}", 3600)
    HeldLease.take("curator", "node:curator", 3600, name="curator-1")


def test_what_needs_attention_is_hidden_when_nothing_does(everything_runs, client_as):
    page = client_as("viewer").get("/").text
    assert "Needs attention" not in page
    assert "all running" in page


def test_a_missing_curator_comes_first_with_its_command(client_as, db):
    page = client_as("viewer").get("/").text
    assert page.index("No curator is active") < page.index("At a glance")
    assert "manage.py run_curator" in page


def test_without_redis_pages_say_degraded(everything_runs, client_as, settings):
    settings.REDIS_URL = GONE
    client = client_as("viewer")
    for path in ("/", "/events/", "/system/", "/admin/"):
        page = client.get(path)
        assert page.status_code == 200
        assert "egraded" in page.text


def test_it_heals_by_itself(everything_runs, client_as, settings):
    working, settings.REDIS_URL = settings.REDIS_URL, GONE
    client = client_as("viewer")
    assert "degraded" in client.get("/").text
    settings.REDIS_URL = working
    assert "degraded" not in client.get("/").text


def test_clocks_that_differ_need_attention(everything_runs):
    now = database_now()
    with time_machine.travel(now + timedelta(seconds=9), tick=False):
        taken = snapshot(now)
    assert "differ by 9s" in taken["attention"][0]["title"]


def test_restarts_are_shown(everything_runs, client_as):
    child = {"name": "worker-1", "restarts": 5, "last_exit": "signal 9"}
    supervisor = HeldLease.take("supervisor/up", "node:up", 3600, children=[child])
    page = client_as("viewer").get("/").text
    assert "worker-1 was restarted 5 times" in page
    assert "Last exit: signal 9." in page
    supervisor.release()
    assert "was restarted" not in client_as("viewer").get("/").text


def test_more_rows_need_no_more_queries(client_as, db, django_assert_max_num_queries):
    client = client_as("viewer")
    client.get("/")
    with django_assert_max_num_queries(50) as few:
        client.get("/")
    for number in range(60):
        record("thing.happened", f"thing:{number}")
        HeldLease.take(f"worker/worker-{number}", f"node:{number}", 3600)
    with django_assert_max_num_queries(50) as many:
        client.get("/")
    assert len(many) == len(few)


def test_routine_is_one_row_and_hides_nothing_else(client_as, db):
    record("instance.draining", "instance:alan")
    for _ in range(20):
        record("instance.jobs_moved", "instance:alan", count=2)
        record("curator.repaired", "curator:one", count=1)
    page = client_as("viewer").get("/").text
    assert "40 keys moved in 20 steps" in page
    assert "20 repairs in 20 sweeps" in page
    assert ">instance.draining</a>" in page


def test_htmx_gets_the_content_without_the_frame(client_as, db):
    page = client_as("viewer").get("/", headers={"HX-Request": "true"}).text
    assert 'id="overview"' in page
    assert "<html" not in page


def test_a_room_has_a_section_as_soon_as_the_snapshot_speaks_of_it(tmp_path, monkeypatch):
    (tmp_path / "allocation.html").touch()
    monkeypatch.setattr(overview, "SECTIONS", tmp_path)
    assert overview.sections({"now": 1}) == []
    assert overview.sections({"allocation": {}}) == ["console/sections/allocation.html"]


def test_what_runs_comes_before_where_it_runs():
    taken = {"allocation": {}, "transactions": {}, "pools": {}, "queues": {}}
    rooms = [path.rpartition("/")[2] for path in overview.sections(taken)]
    assert rooms == ["queues.html", "allocation.html", "pools.html", "transactions.html"]


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_the_frame_says_who_and_as_what(role, client_as):
    page = client_as(role).get("/").text
    assert f"Role: {role}" in page


def test_only_screens_that_exist_are_in_the_navigation(client_as, db):
    page = client_as("viewer").get("/").text
    assert 'data-key="e"' in page
    assert 'aria-current="page"' in page


def test_a_live_part_whose_session_is_over_leads_to_the_log_in(client, db):
    answer = client.get("/", headers={"HX-Request": "true"})
    assert answer.headers["HX-Refresh"] == "true"
    assert client.get("/").status_code == 302
