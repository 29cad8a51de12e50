"""Probes, metrics and doctor tell the truth, also when something is away."""

import dataclasses
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
import redis
from django.core.management import call_command
from django.db import OperationalError, connection

from allocation.models import IdNumber
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from atributo_site.status import doctor, machine, probes
from atributo_site.status.doctor import Finding, examine
from atributo_site.status.metrics import exposition
from atributo_site.status.redis import redis_health
from atributo_site.status.snapshot import attention, snapshot

pytestmark = pytest.mark.django_db
NOWHERE = "unix:///nonexistent/valkey.sock"


@pytest.fixture
def no_redis(settings):
    settings.REDIS_URL = NOWHERE


def finding(name: str) -> Finding:
    return next(each for each in examine() if each.name == name)


def test_healthz_asks_nothing_but_the_process(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_may_ask_by_any_address(client, path):
    assert client.get(path, headers={"Host": "10.1.2.3:8000"}).status_code == 200
    assert client.get("/api/v1/me", headers={"Host": "10.1.2.3:8000"}).status_code == 400


def test_readyz_is_ready_with_a_migrated_database(client):
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (200, {"database": "ok", "redis": "ok"})


def test_without_redis_it_is_degraded_but_ready(client, no_redis):
    response = client.get("/readyz")
    assert (response.status_code, response.json()["redis"]) == (200, "degraded")


def test_with_pending_migrations_it_is_not_ready(client, monkeypatch):
    monkeypatch.setattr(probes, "_migrated_before", False)
    monkeypatch.setattr(probes, "pending_migrations", lambda: ["allocation.9999"])
    response = client.get("/readyz")
    assert (response.status_code, response.json()["database"]) == (503, "migrations pending")


class Away:
    """Behave like a connection whose database has gone."""

    vendor = "sqlite"

    def cursor(self):
        raise OperationalError("password=SECRET")

    ensure_connection = cursor


def test_without_the_database_it_is_not_ready(client, monkeypatch):
    monkeypatch.setattr(probes, "connection", Away())
    response = client.get("/readyz")
    assert (response.status_code, response.json()["database"]) == (503, "down")


def test_a_redis_that_evicts_is_degraded(valkey, settings):
    settings.REDIS_URL = valkey.url
    with redis.Redis.from_url(valkey.url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
    assert redis_health().state == "degraded"
    assert "allkeys-lru may drop messages" in redis_health().detail
    assert finding("redis").fix == ""  # it runs, and the sentence says what to set


def test_a_redis_that_hangs_is_degraded(valkey, settings):
    settings.REDIS_URL, settings.REDIS_TIMEOUT_SECONDS = valkey.url, 0.2
    valkey.pause()
    assert redis_health().state == "degraded"


def test_a_password_in_the_redis_url_is_never_shown(settings):
    settings.REDIS_URL = "redis://:SECRET@127.0.0.1:1/0"
    assert "SECRET" not in redis_health().detail


def test_doctor_tells_the_versions_for_a_report_of_a_bug(client_as):
    said = finding("versions")
    assert said.level == "ok"
    server = "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"
    names = rf"Atributo [\d.]+, Python 3[\d.]+, Django [\d.]+, {server} [\d.]+.*, Redis [\d.]+"
    assert re.fullmatch(names, said.sentence)
    assert said.sentence in client_as("viewer").get("/system/").text


def test_versions_of_servers_that_are_away_are_unknown(no_redis, monkeypatch):
    monkeypatch.setattr(doctor, "connection", Away())
    (said,) = [each.sentence for each in examine() if each.name == "versions"]
    assert said.endswith("Redis unknown")
    assert ("PostgreSQL unknown" in said) == (connection.vendor == "postgresql")


@pytest.mark.parametrize(("ahead", "level"), [(-60, "ok"), (60, "ok"), (7200, "warning")])
def test_doctor_tells_how_far_job_ids_are_ahead_of_the_clock(ahead, level):
    mark = int((database_now().timestamp() + ahead) * 1000)
    IdNumber.objects.all().delete()  # the one of this process, if it has made an id
    IdNumber.objects.create(pk=0, cluster_size=10, high_water_ms=mark)
    assert finding("job ids").level == level


def test_doctor_reads_the_database_options_back():
    names = {each.name for each in examine() if each.name.startswith("database ")}
    expected = {
        "sqlite": {"database journal_mode", "database synchronous", "database foreign_keys"},
        "postgresql": {
            "database statement_timeout",
            "database lock_timeout",
            "database idle_in_transaction_session_timeout",
        },
    }
    assert names == expected[connection.vendor]
    assert all(each.level == "ok" for each in examine() if each.name in names)


def test_doctor_says_how_to_mend_what_is_wrong(no_redis):
    assert (finding("redis").level, finding("workers").level) == ("warning", "warning")
    assert finding("curator").fix == "manage.py run_curator"


def test_doctor_names_a_variable_that_is_no_setting(settings, monkeypatch):
    settings.ATRIBUTO = dataclasses.replace(settings.ATRIBUTO, mode="local")
    monkeypatch.setenv("ATRIBUTO_PROT", "9000")
    monkeypatch.setenv("ATRIBUTO_URL", "http://localhost")  # of the client
    sentences = [each.sentence for each in examine()]
    assert "ATRIBUTO_PROT is not a setting" in sentences
    assert "ATRIBUTO_URL is not a setting" not in sentences


def test_doctor_says_that_production_needs_a_proxy(settings, monkeypatch):
    settings.ATRIBUTO = dataclasses.replace(settings.ATRIBUTO, mode="production")
    warned = [each.fix for each in examine() if "pages require https" in each.sentence]
    assert len(warned) == 1
    settings.ATRIBUTO = dataclasses.replace(settings.ATRIBUTO, behind_proxy=True)
    assert not [each for each in examine() if "pages require https" in each.sentence]


def test_doctor_finds_a_running_worker_and_curator():
    Lease.objects.acquire("worker/w1", "holder", 30)
    Lease.objects.acquire("curator", "holder", 30, name="c1")
    assert finding("workers").sentence == "1 running"
    assert finding("curator").sentence == "c1 is active"


def test_doctor_says_how_much_room_the_disk_has(settings):
    assert finding("disk").level == "ok" and " MB are free in " in finding("disk").sentence
    settings.ATRIBUTO = dataclasses.replace(settings.ATRIBUTO, least_free_mb=100_000_000)
    assert finding("disk").level == "error" and "make room there" in finding("disk").fix


def test_doctor_without_a_database_says_only_that(monkeypatch):
    monkeypatch.setattr(doctor, "connection", Away())
    findings = examine()
    names = [each.name for each in findings]
    assert names == ["versions", "configuration", "disk", "database", "redis"]
    assert "SECRET" not in str(findings)


def test_doctor_says_which_migrations_are_missing(monkeypatch):
    monkeypatch.setattr(doctor, "pending_migrations", lambda: ["allocation.9999"])
    assert finding("migrations") == Finding("migrations", "error", "1 pending", "manage.py migrate")
    assert "curator" not in {each.name for each in examine()}


def test_the_doctor_command_ends_with_1_when_it_finds_an_error(monkeypatch, capsys):
    broken = [Finding("database", "error", "gone", "bring it back")]
    monkeypatch.setattr("atributo_site.management.commands.doctor.examine", lambda: broken)
    with pytest.raises(SystemExit) as stop:
        call_command("doctor", "--json")
    assert stop.value.code == 1
    assert json.loads(capsys.readouterr().out) == [dataclasses.asdict(broken[0])]


def test_a_snapshot_needs_the_same_number_of_queries_however_many_rows(
    django_assert_max_num_queries,
):
    for number in range(50):
        Lease.objects.acquire(f"worker/w{number}", "holder", 30)
    with django_assert_max_num_queries(60) as few:
        snapshot(database_now())
    for number in range(50, 100):
        Lease.objects.acquire(f"worker/w{number}", "holder", 30)
    with django_assert_max_num_queries(len(few)):
        snapshot(database_now())


def test_a_process_is_running_silent_or_stopped():
    Lease.objects.acquire("worker/running", "a", 30)
    Lease.objects.acquire("worker/silent", "b", -1)
    Lease.objects.release("worker/stopped", Lease.objects.acquire("worker/stopped", "c", 30))
    states = {each["name"]: each["state"] for each in snapshot(database_now())["processes"]}
    assert states == {"running": "running", "silent": "silent", "stopped": "stopped"}


def test_what_needs_attention_comes_with_a_command(no_redis):
    titles = [item["title"] for item in snapshot(database_now())["attention"]]
    assert titles == ["No curator is active", "No worker is running", "Redis is degraded"]


def test_a_healthy_site_needs_no_attention():
    Lease.objects.acquire("worker/w1", "holder", 30)
    Lease.objects.acquire("curator", "holder", 30, name="c1")
    assert snapshot(database_now())["attention"] == []


def test_a_child_that_was_restarted_often_needs_attention():
    child = {"name": "web", "restarts": 3, "last_exit": "killed by SIGKILL"}
    state = {**snapshot(database_now()), "restarts": [child]}
    assert "web was restarted 3 times" in [item["title"] for item in attention(state)]


def test_metrics_show_what_the_dashboard_shows():
    Lease.objects.acquire("worker/w1", "holder", 30)
    lines = exposition(snapshot(database_now())).decode().splitlines()
    assert 'atributo_processes{kind="worker",state="running"} 1.0' in lines
    assert "atributo_curator_active 0.0" in lines
    assert "atributo_redis_up 1.0" in lines


def test_metrics_need_a_token_unless_they_are_open(client, settings):
    assert client.get("/metrics").status_code == 401
    settings.ATRIBUTO = dataclasses.replace(settings.ATRIBUTO, metrics_open=True)
    assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize(("at", "ahead"), [(-40, 40.0), (0, 0.0), (4, 0.0), (45, -40.0)])
def test_a_late_answer_of_the_database_is_no_wrong_clock(at, ahead):
    asked = datetime(2026, 1, 1, tzinfo=UTC)
    answered = asked + timedelta(seconds=5)
    assert machine.skew(asked, asked + timedelta(seconds=at), answered) == ahead
