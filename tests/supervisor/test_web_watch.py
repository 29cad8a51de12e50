"""A web process that does not answer is ended and started again; a busy one is left alone."""

import asyncio
import os
import select
import signal
import socket
import sys
import threading

import pytest
import requests
from django.conf import settings

from atributo_site.config.places import BASE_DIR
from atributo_site.serving.systemd import Notify
from atributo_site.supervisor.child import Child
from atributo_site.supervisor.health_check import Question
from atributo_site.supervisor.ports import listen
from atributo_site.supervisor.watchdog import (
    GRACE_SECONDS,
    QUESTION_SECONDS,
    SILENT_SECONDS,
    Watchdog,
)
from tests.servers.waiting import wait_until
from tests.servers.web_in_thread import WebInThread

WHY = "no answer to /healthz for 15 seconds"


class Asked:
    """A question whose answer is given beforehand; None is never answered."""

    def __init__(self, answer):
        self.answer, self.is_open = answer, True

    def answered(self):
        return self.answer

    def close(self):
        self.is_open = False


class Told:
    """A child that notes what it is told."""

    name = "web"

    def __init__(self):
        self.pid, self.heard = 1, []

    def end(self, why):
        self.heard.append(why)

    def signal(self, number):
        self.heard.append(number)


@pytest.fixture
def watched():
    """Return a clock, the child, its answers from now on, and the watchdog's looks."""
    return Watched()


class Watched:
    def __init__(self):
        self.now, self.answer, self.said, self.asked = 0.0, True, [], []
        self.child = Told()
        self.watchdog = Watchdog(self.child, self.ask, self.said.append)

    def ask(self):
        self.asked.append(Asked(self.answer))
        return self.asked[-1]

    def pass_seconds(self, seconds):
        end = self.now + seconds
        while self.now < end:
            self.now += 0.5
            self.watchdog.look(self.now)


def test_fifteen_seconds_of_silence_end_a_process(watched):
    watched.pass_seconds(60)
    watched.answer = None
    watched.pass_seconds(SILENT_SECONDS - QUESTION_SECONDS)
    assert watched.child.heard == []
    watched.pass_seconds(QUESTION_SECONDS + 2)
    assert (watched.child.heard, watched.said) == ([WHY], [f"web: {WHY}; ending it."])
    watched.pass_seconds(GRACE_SECONDS)
    assert watched.child.heard[:2] == [WHY, signal.SIGKILL]


def test_one_answer_ends_the_silence(watched):
    watched.pass_seconds(10)
    for _ in range(5):
        watched.answer = None
        watched.pass_seconds(2 * QUESTION_SECONDS + 1)
        watched.answer = watched.asked[-1].answer = True
        watched.pass_seconds(3)
    assert watched.child.heard == []


def test_a_start_may_take_as_long_as_it_takes(watched):
    watched.answer = None
    watched.pass_seconds(600)
    watched.answer = False
    watched.pass_seconds(600)
    assert watched.child.heard == []


def test_a_new_process_starts_over(watched):
    watched.pass_seconds(10)
    watched.answer = None
    watched.pass_seconds(SILENT_SECONDS + 2)
    watched.child.pid, watched.child.heard = 2, []
    watched.pass_seconds(600)
    assert watched.child.heard == []


def test_a_process_that_is_gone_is_not_asked(watched):
    watched.child.pid = None
    watched.pass_seconds(60)
    assert watched.asked == []


def test_refusals_are_counted_at_the_same_pace(watched):
    watched.pass_seconds(10)
    watched.answer = False
    watched.pass_seconds(SILENT_SECONDS - QUESTION_SECONDS)
    assert watched.child.heard == []


def test_a_supervisor_that_did_not_run_for_a_minute_blames_nobody(watched):
    watched.pass_seconds(10)
    watched.answer = None
    watched.now += 60
    watched.watchdog.look(watched.now)
    watched.answer = True
    watched.pass_seconds(60)
    assert watched.child.heard == []


def test_no_question_stays_open(watched):
    watched.pass_seconds(10)
    watched.answer = None
    watched.pass_seconds(60)
    assert [each for each in watched.asked if each.is_open] == []


# -- a real one ------------------------------------------------------------------------------


@pytest.fixture
def web(process_environment, tmp_path):
    """Run `manage.py web` as a child on a listening socket that outlives it."""
    with listen("127.0.0.1", 0) as listener:
        argv = [sys.executable, str(BASE_DIR / "manage.py"), "web", "--fd", str(listener.fileno())]
        fds = (listener.fileno(),)
        child = Child("web", argv, tmp_path / "web.log", process_environment, pass_fds=fds)
        child.start(0.0)
        yield child, listener.getsockname()[1]
        child.signal(signal.SIGKILL)
        wait_until(child.ended)


@pytest.mark.only_on("sqlite")
def test_a_web_process_that_was_stopped_is_replaced_by_another(web):
    child, port = web
    ends = []
    watchdog = Watchdog(child, lambda: Question("127.0.0.1", port), print)
    wait_until(lambda: watchdog.look(0.0) or watchdog.has_answered)
    first = child.pid
    os.kill(first, signal.SIGSTOP)
    for now in range(0, 60, 5):  # the clock is ours: nobody waits for it
        watchdog.look(float(now))
        watchdog.look(float(now) + 4.9)
    wait_until(lambda: child.watch(1000.0, ends.append) or child.watch(2000.0, ends.append) or ends)
    assert child.last_exit == f"{WHY}, killed by SIGKILL"
    wait_until(lambda: watchdog.look(3000.0) or watchdog.has_answered)
    assert child.pid not in (first, None)


def test_a_server_whose_threads_are_all_busy_is_alive(db):
    web, go_on = WebInThread(), threading.Event()
    try:
        for _ in range(settings.ATRIBUTO.web_threads):
            web.app._in_threads.executor.submit(go_on.wait)
        response = requests.get(f"{web.url}/healthz", timeout=60)
        assert (response.status_code, response.text) == (200, "ok\n")
        assert response.headers["X-Request-Id"]
        assert requests.head(f"{web.url}/healthz", timeout=60).status_code == 200
    finally:
        go_on.set()
        web.stop()


@pytest.mark.parametrize(
    ("reply", "is_alive"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nok\n", True),
        (b"HTTP/1.1 503 Busy\r\n\r\n", False),
        (b"", False),
        (b"HTTP", False),
    ],
)
def test_only_a_good_answer_is_one(reply, is_alive):
    with socket.create_server(("127.0.0.1", 0)) as server:
        question = Question(*server.getsockname())
        assert question.answered() is None
        peer, _ = server.accept()
        with peer:
            peer.recv(1000)
            assert question.answered() is None
            peer.sendall(reply)
        assert known(question) is is_alive


def known(question):
    """Return the answer as soon as there is one."""
    [answer] = wait_until(lambda: [each for each in [question.answered()] if each is not None])
    question.close()
    return answer


def test_nobody_listening_is_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert known(Question("127.0.0.1", port)) is False


# -- systemd ---------------------------------------------------------------------------------


@pytest.fixture
def manager(tmp_path):
    """Play systemd: a datagram socket that receives what its service sends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.settimeout(60)
        yield heard


@pytest.mark.only_on("sqlite")
def test_systemd_hears_that_the_web_server_is_up_and_lives(spawn, free_port, manager):
    about = {"NOTIFY_SOCKET": manager.getsockname(), "WATCHDOG_USEC": "100000"}
    process = spawn("web", env={"ATRIBUTO_PORT": str(free_port), **about})
    assert [manager.recv(100) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: manager.recv(100) == b"STOPPING=1")


def test_a_loop_that_does_not_turn_says_nothing(manager):
    async def frozen():
        notify = Notify({"NOTIFY_SOCKET": manager.getsockname(), "WATCHDOG_USEC": "2000"}, 1)
        beating = asyncio.create_task(notify.beat())
        await asyncio.sleep(0)
        assert manager.recv(100) == b"WATCHDOG=1"
        silence = select.select([manager], [], [], 0.05)  # fifty beats long, in the loop's thread
        beating.cancel()
        return silence

    assert asyncio.run(frozen()) == ([], [], [])


@pytest.mark.parametrize(
    ("environ", "beat_seconds"),
    [
        ({}, 0.0),
        ({"WATCHDOG_USEC": "15000000"}, 7.5),
        ({"WATCHDOG_USEC": "15000000", "WATCHDOG_PID": "7"}, 7.5),
        ({"WATCHDOG_USEC": "15000000", "WATCHDOG_PID": "8"}, 0.0),
    ],
)
def test_the_pace_is_half_of_what_systemd_waits_for(environ, beat_seconds):
    assert Notify(environ, 7).beat_seconds == beat_seconds


def test_without_a_manager_nothing_is_said_and_a_deaf_one_stops_nobody(tmp_path):
    Notify({}, 1).say("READY=1")
    Notify({"NOTIFY_SOCKET": str(tmp_path / "nobody")}, 1).say("READY=1")
    asyncio.run(Notify({"WATCHDOG_USEC": "1"}, 1).beat())
