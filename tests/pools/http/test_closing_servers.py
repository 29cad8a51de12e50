"""Servers that close connections are healthy servers."""

import socket
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pools import HealthPolicy, ReadTimeoutError, Timeout
from tests.pools.live import LONG
from tests.pools.pool.pool_run import PoolRun
from tests.servers.ports import stop_listening
from tests.servers.waiting import wait_until


@pytest.fixture
def old(tmp_path):
    """Return the port of `python -m http.server`, which speaks HTTP/1.0 and closes."""
    (tmp_path / "a.txt").write_text("hello")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    SimpleHTTPRequestHandler.log_message = lambda *_: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_server_that_closes_after_a_good_ping_is_well(old, make_agent):
    agent = make_agent(ping="/a.txt", ping_interval=5, health=HealthPolicy(fall=1))
    url = f"http://127.0.0.1:{old}/a.txt"
    for _ in range(40):
        assert agent.get(url).data == b"hello"
    counters = agent.get_pool("127.0.0.1", old).get_stats()["counters"]
    assert not counters.get("check-failed") and not counters.get("failed-state")


def test_a_dead_backend_returns_by_a_ping_after_which_the_server_closes(web, make_agent):
    web.keeps, web.status = False, 503
    agent = make_agent(ping="/ping", ping_interval=5, health=HealthPolicy(fall=1))
    pool = agent.create_pool("127.0.0.1", web.port)
    pool.wait_for_state("failed", timeout=LONG)
    web.status = 200
    pool.wait_for_state("running", timeout=LONG)
    assert agent.get(web.url()).data == b"hello"


RESTLESS = {"default": {"timeout": 1000, "retries": 2, "delay": 50, "max_delay": 200}}


def settled():
    return PoolRun("b1", spares=1, maximum=2, recovery=RESTLESS)


def lose_all(run):
    for connection in run.open_connections():
        run.lose(connection)
    return run


def hang_up_at_once(run):
    """Close every connection within a millisecond, for a second."""
    for _ in range(1000):
        lose_all(run.advance(1))
    return run


def test_connections_that_are_closed_unused_do_not_make_a_backend_dead():
    run = settled()
    for _ in range(20):
        lose_all(run.advance(400)).advance(300)
    assert (run.state, run.machine.roster.dead) == ("running", {})
    assert len(run.attempts) <= 21  # and they are not opened again at once


def test_a_claim_does_not_wait_for_a_connection_that_rests():
    run = lose_all(settled().advance(400))
    assert run.shape() == {"b1": {"resting": 1}}
    run.claim("me")
    assert run.slot("me").state == "busy"


def test_a_backend_that_hangs_up_at_once_is_dead():
    assert hang_up_at_once(settled()).machine.counters["retries-exhausted"] > 0


def test_answers_that_come_too_late_do_not_make_a_backend_dead(web, make_agent):
    web.hang = True
    agent = make_agent(spares=0)
    for _ in range(4):
        with pytest.raises(ReadTimeoutError):
            agent.get(web.url(), timeout=Timeout(read=0.01))
    pool = agent.get_pool("127.0.0.1", web.port)
    assert pool.get_stats()["counters"].get("retries-exhausted") is None
    assert list(pool.machine.roster.outliers.strikes.values()) == [4]


def test_errors_of_a_server_that_closes_do_not_make_it_dead(web, make_agent):
    web.keeps, web.status = False, 500
    agent = make_agent(spares=0)
    assert [agent.get(web.url()).status for _ in range(4)] == [500] * 4
    pool = agent.get_pool("127.0.0.1", web.port)
    assert pool.get_stats()["counters"].get("retries-exhausted") is None


def test_a_backend_that_has_served_may_close_what_is_not_used_as_soon_as_it_likes():
    run = hang_up_at_once(settled().claim("me").release("me", ok=True))
    assert (run.state, run.machine.roster.dead) == ("running", {})
    assert len(run.attempts) < 30  # in a second: at the pace of the recovery


def test_a_backend_that_breaks_off_what_it_serves_is_trusted_no_more():
    run = settled().claim("me").release("me", ok=True).advance(400)
    run.claim("you").lose(run.slot("you").connection).discard("you", ok=False)
    assert hang_up_at_once(run).machine.counters["retries-exhausted"] > 0


def test_a_dead_backend_returns_though_it_closes_what_is_not_used():
    run = hang_up_at_once(settled())
    assert run.machine.roster.dead["b1"].kind == "flap"
    run.advance(200)
    assert run.shape() == {"b1": {"proving": 1}}
    lose_all(run.advance(150))
    assert (run.state, run.machine.roster.dead) == ("running", {})
    assert run.shape() == {"b1": {"resting": 1}}


class Restless(threading.Thread):
    """Close every connection that says nothing for a moment, as haproxy does."""

    def __init__(self, listener, seconds):
        super().__init__(daemon=True)
        self._listener, self._seconds = listener, seconds
        self.start()

    def run(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        peer.settimeout(self._seconds)
        with peer:
            try:
                while peer.recv(65536):
                    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            except OSError:
                return


def test_requests_to_a_server_that_closes_unused_connections(make_agent):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Restless(listener, 0.15)
        agent = make_agent(recovery=RESTLESS, spares=2, maximum=4)
        port = listener.getsockname()[1]
        pool = agent.create_pool("127.0.0.1", port)
        for _ in range(3):
            wait_until(lambda: any(s.rests for s in list(pool.machine.slots.all())))
            assert agent.get(f"http://127.0.0.1:{port}/", retries=2).data == b"ok"
        assert not pool.get_stats()["counters"].get("failed-state")
        stop_listening(listener, server)


def test_informational_answers_are_not_the_answer(make_agent):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            peer, _ = listener.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(hints + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                peer.recv(1)

        threading.Thread(target=serve, daemon=True).start()
        agent = make_agent(spares=0, maximum=1)
        answer = agent.get(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        assert (answer.status, answer.data) == (200, b"ok")
        agent.close()
