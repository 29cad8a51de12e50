"""The supervisor and its parts, with real processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.supervisor.child import (
    LONGEST_BACKOFF_SECONDS,
    Child,
    backoff_seconds,
    describe_exit,
    keep_small,
)
from atributo_site.supervisor.ports import PortInUse, listen, listen_or_offer
from atributo_site.supervisor.startup import AlreadyRunning, Claim
from atributo_site.supervisor.supervisor import Supervisor
from tests.servers.ports import free_port
from tests.servers.process import has_ended
from tests.servers.waiting import wait_until

FOR_EVER = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
WRITES_ON = "import time\nwhile True: print('line' * 1000), time.sleep(0.001)"
STUBBORN = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True)\n"
    "while True: signal.pause()",
]


@pytest.fixture
def child(tmp_path: Path):
    made = []

    def make(name: str, argv=FOR_EVER) -> Child:
        made.append(Child(name, argv, tmp_path / f"{name}.log"))
        return made[-1]

    yield make
    for each in made:
        each.signal(signal.SIGKILL)
        wait_until(each.ended)


def is_up(child: Child) -> bool:
    return child.log_path.exists() and "up" in child.log_path.read_text()


def test_a_log_that_grew_is_kept_once_more_while_the_program_goes_on(child):
    one = child("one", [sys.executable, "-uc", WRITES_ON])
    one.start(time.monotonic())
    wait_until(lambda: one.log_path.stat().st_size > 100_000)
    keep_small(one.log_path, largest=100_000)
    wait_until(lambda: one.log_path.read_bytes().strip(b"\0"))
    assert one.log_path.with_suffix(".log.1").stat().st_size > 100_000
    assert b"\0" not in one.log_path.read_bytes()[:10]


def test_a_log_on_a_full_disk_stops_nothing(tmp_path):
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * 200)
    log.with_suffix(".log.1").symlink_to("/dev/full")
    keep_small(log, largest=100)
    assert log.stat().st_size == 0
    assert not log.with_suffix(".log.1").exists()


def test_a_killed_child_is_started_again_and_its_end_is_told(child):
    one, deaths = child("one"), []
    one.start(time.monotonic())
    first = one.pid
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: one.watch(time.monotonic(), deaths.append) or one.restarts)
    assert (one.restarts, one.last_exit, len(deaths)) == (1, "killed by SIGKILL", 1)
    assert one.pid != first


def test_a_child_that_keeps_dying_waits_before_its_next_start(child):
    one = child("one", [sys.executable, "-c", "raise SystemExit(3)"])
    one.start(0.0)
    wait_until(one.ended)
    one.watch(0.0, lambda _: None)
    one.watch(0.19, lambda _: None)
    assert (one.restarts, one.last_exit) == (0, "exit code 3")
    one.watch(0.2, lambda _: None)
    assert one.restarts == 1


def test_a_child_is_not_started_by_merely_watching_it(child):
    one = child("one")
    one.watch(1000.0, lambda _: None)
    assert (one.pid, one.restarts) == (None, 0)


def test_a_death_of_one_leaves_the_others_alone(child):
    one, two = child("one"), child("two")
    supervisor = Supervisor([[one, two]], lambda _: None)
    supervisor.start()
    steady = two.pid
    os.kill(one.pid, signal.SIGKILL)
    assert supervisor.watch_until(lambda: one.restarts == 1, 20)
    assert (two.pid, two.restarts) == (steady, 0)


def test_groups_stop_one_after_the_other(child):
    site, store = child("site"), child("store")
    order = []
    supervisor = Supervisor([[site], [store]], lambda _: None)
    supervisor.start()
    stop_store = store.signal
    store.signal = lambda number: order.append(site.ended()) or stop_store(number)
    supervisor.stop()
    assert order == [True]
    assert store.ended()


def test_a_child_that_ignores_the_request_to_stop_is_killed(child, monkeypatch):
    monkeypatch.setattr("atributo_site.supervisor.supervisor.STOP_SECONDS", 0.2)
    one = child("one", STUBBORN)
    supervisor = Supervisor([[one]], lambda _: None)
    supervisor.start()
    wait_until(lambda: is_up(one))
    supervisor.stop()
    wait_until(one.ended)


def test_children_of_a_killed_supervisor_die_with_it(tmp_path: Path):
    script = (
        "import sys, time; from pathlib import Path\n"
        "from atributo_site.supervisor.child import Child\n"
        f"one = Child('one', ['sleep', '600'], Path({str(tmp_path / 'log')!r}))\n"
        "one.start(0.0); print(one.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    orphan = psutil.Process(int(parent.stdout.readline()))
    wait_until(lambda: orphan.name() == "sleep")
    parent.kill()
    parent.communicate()
    wait_until(lambda: has_ended(orphan.pid))


@given(st.integers(0, 10_000))
def test_the_back_off_grows_and_has_a_limit(deaths):
    assert 0 < backoff_seconds(deaths) <= backoff_seconds(deaths + 1) <= LONGEST_BACKOFF_SECONDS


def test_an_end_is_described_by_code_or_signal():
    assert describe_exit(0) == "exit code 0"
    assert describe_exit(-9) == "killed by SIGKILL"


def test_a_second_supervisor_on_the_same_folder_learns_who_runs(tmp_path: Path):
    first = Claim(tmp_path)
    first.note(address="http://127.0.0.1:8000")
    with pytest.raises(AlreadyRunning) as refused:
        Claim(tmp_path)
    first.close()
    assert f"at http://127.0.0.1:8000 (process {os.getpid()})" in str(refused.value)


def test_a_port_in_use_is_said_and_the_next_free_one_taken():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        found, remark = listen_or_offer("127.0.0.1", port, insist=False)
        with found:
            free = found.getsockname()[1]
    assert remark == f"Port {port} is in use by another program; using {free} instead."


def test_a_port_that_was_asked_for_is_not_replaced_but_another_offered():
    with listen("127.0.0.1", 0) as taken, pytest.raises(PortInUse) as refused:
        listen_or_offer("127.0.0.1", taken.getsockname()[1], insist=True)
    assert "is free: ATRIBUTO_PORT=" in str(refused.value)


def test_a_free_port_is_taken_without_a_remark():
    found, remark = listen_or_offer("127.0.0.1", free_port(), insist=True)
    with found:
        assert remark == ""
