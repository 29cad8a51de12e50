"""`manage.py up`, started as a user does: everything comes up, survives kills, stops cleanly."""

import fcntl
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import requests

from tests.servers.site import PASSWORD, Site
from tests.servers.waiting import wait_until


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    """A state folder after its first start, to be copied: one for all processes of a test run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first makes it, the others wait
        first, made = Site(folder / "prepared"), folder / "prepared.made"
        if not made.exists():
            assert first.check().returncode == 0
            made.touch()
    return first.var


@pytest.fixture
def site(tmp_path: Path, prepared: Path):
    running = Site(tmp_path, prepared, ATRIBUTO_METRICS_OPEN="yes")
    running.start()
    yield running
    running.close()


def alive(site: Site, name: str, other_than: int) -> bool:
    found = site.children().get(name)
    return found is not None and found.pid != other_than


@pytest.mark.parametrize("name", ["web", "worker", "curator", "valkey"])
def test_a_killed_child_comes_back_and_nothing_else_dies(site: Site, name: str):
    wait_until(lambda: len(site.children()) == 4)
    before = {each: process.pid for each, process in site.children().items()}
    os.kill(before[name], signal.SIGKILL)
    wait_until(lambda: alive(site, name, before[name]))
    wait_until(lambda: site.ready() == {"database": "ok", "redis": "ok"})
    after = {each: process.pid for each, process in site.children().items()}
    assert {each for each in before if after[each] != before[each]} == {name}
    label = "worker-1" if name == "worker" else name
    wait_until(lambda: f'atributo_restarts{{process="{label}"}} 1.0' in site.metrics())


def test_it_heals_by_itself_when_redis_is_away_for_a_while(site: Site):
    valkey = site.children()["valkey"]
    valkey.suspend()
    wait_until(lambda: site.ready()["redis"] == "degraded")
    assert site.get("/admin/login/")[0] == 200
    valkey.resume()
    wait_until(lambda: site.ready()["redis"] == "ok")


def test_a_second_start_on_the_same_folder_says_who_runs(site: Site):
    second = subprocess.run(site.command(), env=site.environ, capture_output=True, text=True)
    assert second.returncode == 1
    who = f"at http://127.0.0.1:{site.port} (process {site.process.pid})"
    assert who in second.stderr


def test_ctrl_c_stops_everything_and_a_second_start_finds_it_as_it_was(site: Site):
    children = list(site.children().values())
    assert site.stop() == 0
    assert not any(child.is_running() for child in children)
    assert (site.var / "atributo.sqlite3").exists()
    site.log.unlink()
    site.start()
    assert "Log in as before" in site.said()


def test_a_killed_supervisor_leaves_nothing_behind(site: Site):
    children = list(site.children().values())
    site.process.kill()
    site.process.wait()
    wait_until(lambda: not any(child.is_running() for child in children))


def test_the_first_administrator_gets_a_random_password_once(tmp_path: Path):
    site = Site(tmp_path, ATRIBUTO_ADMIN_PASSWORD="", ATRIBUTO_DEMO="no")
    ended = site.check()
    assert ended.returncode == 0
    assert re.search(r"Log in as admin with the password \S{16} \(shown only", ended.stdout)
    assert "Demo content" not in ended.stdout


def test_a_named_port_in_use_stops_the_start_and_another_is_offered(tmp_path: Path, site: Site):
    other = Site(tmp_path / "other", ATRIBUTO_PORT=str(site.port))
    ended = subprocess.run(site.command(), env=other.environ, capture_output=True, text=True)
    assert ended.returncode == 1
    assert f"port {site.port} is in use by another program" in ended.stderr


def test_an_open_stream_does_not_hold_up_the_stop(site: Site):
    address = f"http://127.0.0.1:{site.port}"
    with requests.Session() as browser:
        form = browser.get(f"{address}/admin/login/").text
        csrf = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)[1]
        login = {"username": "admin", "password": PASSWORD, "csrfmiddlewaretoken": csrf}
        browser.post(f"{address}/admin/login/?next=/healthz", data=login)
        with browser.get(f"{address}/events/stream", stream=True, timeout=20) as stream:
            assert stream.headers["Content-Type"].startswith("text/event-stream")
            assert site.stop() == 0
    assert "Stopped." in site.said()
