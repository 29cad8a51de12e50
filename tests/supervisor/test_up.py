"""`manage.py up`, started as a user does: everything comes up, survives kills, stops cleanly."""

import fcntl
import os
import re
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
import requests

from tests.servers.site import Site
from tests.servers.waiting import wait_until

PLAIN = {"ATRIBUTO_ADMIN_PASSWORD": "", "ATRIBUTO_DEMO": "no"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    """Return a state folder after its first start, to be copied by all processes of a run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first makes it, the others wait
        first, said = Site(folder / "prepared", **PLAIN), folder / "prepared" / "said"
        if not said.exists():
            ended = first.check()
            assert ended.returncode == 0
            said.write_text(ended.stdout)
    return first.var


@pytest.fixture
def first_words(prepared: Path) -> str:
    return (prepared.parent / "said").read_text()


@pytest.fixture
def site(tmp_path: Path, prepared: Path):
    running = Site(tmp_path, prepared, ATRIBUTO_METRICS_OPEN="yes", **PLAIN)
    try:
        running.start()
        yield running
    finally:  # also if it did not start in time
        running.close()


def test_the_first_administrator_gets_a_random_password(first_words: str):
    assert password_in(first_words)
    assert "Demo content" not in first_words


def password_in(said: str) -> str:
    return re.search(r"Log in as admin with the password (\S{16}) \(shown only", said)[1]


def alive(site: Site, name: str, other_than: int) -> bool:
    found = site.children().get(name)
    return found is not None and found.pid != other_than


def pids_of_all(site: Site) -> dict[str, int]:
    """Return all four; a process that is just starting has no command line for a moment."""

    def all_four() -> dict[str, psutil.Process] | None:
        found = site.children()
        return found if len(found) == len(LABELS) else None

    return {name: process.pid for name, process in wait_until(all_four).items()}


LABELS = {"web": "web", "worker": "worker-1", "curator": "curator", "valkey": "valkey"}


def test_a_killed_child_comes_back_and_nothing_else_dies(site: Site):
    for name, label in LABELS.items():
        before = pids_of_all(site)
        os.kill(before[name], signal.SIGKILL)
        wait_until(lambda n=name, gone=before[name]: alive(site, n, gone))
        wait_until(lambda: site.ready() == {"database": "ok", "redis": "ok"})
        after = pids_of_all(site)
        assert {each for each in before if after[each] != before[each]} == {name}
        restarts = f'atributo_restarts{{process="{label}"}} 1.0'
        wait_until(lambda line=restarts: line in site.metrics())


def test_a_web_process_that_answers_nobody_is_replaced(site: Site):
    before = pids_of_all(site)
    os.kill(before["web"], signal.SIGSTOP)
    wait_until(lambda: alive(site, "web", before["web"]), 180)
    wait_until(lambda: site.ready() == {"database": "ok", "redis": "ok"})
    after = pids_of_all(site)
    assert {each for each in before if after[each] != before[each]} == {"web"}
    assert "web: no answer to /healthz for 15 seconds; ending it." in site.said()


def test_a_site_heals_by_itself_and_tells_a_second_start_who_runs(site: Site, tmp_path: Path):
    valkey = site.children()["valkey"]
    valkey.suspend()
    wait_until(lambda: site.ready()["redis"] == "degraded")
    assert site.get("/admin/login/")[0] == 200
    valkey.resume()
    wait_until(lambda: site.ready()["redis"] == "ok")
    who = f"at http://127.0.0.1:{site.port} (process {site.process.pid})"
    assert who in refusal(site)
    other = Site(tmp_path / "other", ATRIBUTO_PORT=str(site.port))
    assert f"port {site.port} is in use by another program" in refusal(other)


def refusal(site: Site) -> str:
    ended = subprocess.run(site.command(), env=site.environ, capture_output=True, text=True)
    assert ended.returncode == 1
    return ended.stderr


def test_ctrl_c_ends_all_at_once_and_a_second_start_finds_it_as_it_was(
    site: Site, first_words: str
):
    children, password = list(site.children().values()), password_in(first_words)
    with requests.Session() as browser, open_stream(site, browser, password) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        assert site.stop() == 0  # which waits for no stream
    assert "Stopped." in site.said()
    wait_until(lambda: not any(child.is_running() for child in children))
    site.log.unlink()
    site.start()
    assert "Log in as before" in site.said()
    assert "shown only" not in site.said()
    killed_leaves_nothing_behind(site)


def open_stream(site: Site, browser: requests.Session, password: str) -> requests.Response:
    form = browser.get(f"{site.address}/admin/login/").text
    csrf = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)[1]
    login = {"username": "admin", "password": password, "csrfmiddlewaretoken": csrf}
    browser.post(f"{site.address}/admin/login/?next=/healthz", data=login)
    return browser.get(f"{site.address}/events/stream", stream=True, timeout=60)


def killed_leaves_nothing_behind(site: Site) -> None:
    children = list(site.children().values())
    site.process.kill()
    site.process.wait()
    wait_until(lambda: not any(child.is_running() for child in children))
