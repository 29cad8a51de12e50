"""Agents beside the web servers that people run."""

import socket
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from pools import HttpAgent, HttpsAgent, PoolsError, StaticIpResolver, Tls
from tests.pools.real.programs import haproxy, nginx, running
from tests.servers.ports import free_port

pytestmark = pytest.mark.soak
SHORT = {"default": {"timeout": 2000, "retries": 2, "delay": 50, "max_delay": 500}}


def answered(agent, url, count, pause):
    """Return how many of the requests were answered."""
    good = 0
    for number in range(count):
        try:
            good += agent.get(f"{url}?id={number}").status == 200
        except PoolsError as error:
            print(error)
        time.sleep(pause)
    return good


def test_nginx_that_keeps_no_connection(tmp_path):
    options = {"ping": "/", "ping_interval": 50, "recovery": SHORT}
    with nginx(tmp_path / "n", "keepalive_timeout 0;") as server, HttpAgent(**options) as agent:
        assert answered(agent, f"http://127.0.0.1:{server.port}/", 70, 0.02) == 70


def test_http_server_of_python(tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    options = {"ping": "/", "ping_interval": 50, "recovery": SHORT}
    with running([*command, "--directory", str(tmp_path)], port), HttpAgent(**options) as agent:
        assert answered(agent, f"http://127.0.0.1:{port}/", 88, 0.02) == 88


def test_haproxy_that_closes_unused_connections(tmp_path):
    with haproxy(tmp_path / "h", "400ms") as server, HttpAgent(recovery=SHORT) as agent:
        assert answered(agent, f"http://127.0.0.1:{server.port}/", 20, 0.5) == 20


def test_two_hundred_silent_hosts_beside_a_healthy_one(tmp_path):
    with nginx(tmp_path / "n") as server, socket.create_server(("127.0.0.1", 0)) as silent:
        resolver = StaticIpResolver([{"address": "127.0.0.1", "port": silent.getsockname()[1]}])
        with resolver, HttpsAgent(tls=Tls(verify=False)) as troubled, HttpAgent() as agent:
            for number in range(200):
                troubled.create_pool(f"h{number}.example", resolver=resolver)
            began = time.monotonic()
            assert answered(agent, f"http://127.0.0.1:{server.port}/", 50, 0) == 50
            print(f"50 requests in {time.monotonic() - began:.2f} s")
            assert threading.active_count() < 100


REQUESTS = 50_000
FAULTS = 60
THREADS = 8


class Storm:
    """Requests of several threads, each with a number that its answer must repeat."""

    def __init__(self, agent, count):
        self._agent = agent
        self._lock = threading.Lock()
        self._numbers = iter(range(count))
        self.mixed, self.failed, self.done = [], [], 0
        self._threads = [threading.Thread(target=self._work) for _ in range(THREADS)]

    def _work(self):
        while True:
            with self._lock:
                number = next(self._numbers, None)
            if number is None:
                return
            began = time.monotonic()
            try:
                answer = self._agent.get(f"http://svc.example/?id={number}", timeout=30)
                if answer.data != str(number).encode():
                    self.mixed.append((number, answer.data))
            except PoolsError as error:
                self.failed.append((began, time.monotonic(), error))
            with self._lock:
                self.done += 1

    def start(self):
        for thread in self._threads:
            thread.start()
        return self

    def join(self):
        for thread in self._threads:
            thread.join(timeout=600)
            assert not thread.is_alive(), "a request hangs"


@contextmanager
def backends(folder):
    with nginx(folder / "0") as first, nginx(folder / "1") as second, nginx(folder / "2") as third:
        servers = [first, second, third]
        addresses = [{"address": "127.0.0.1", "port": server.port} for server in servers]
        with StaticIpResolver(addresses) as resolver:
            yield servers, resolver


def test_chaos(tmp_path):
    """Kill servers in the middle of requests: errors only for what was under way at a kill."""
    kills = []
    recovery = {"default": {"timeout": 2000, "retries": 3, "delay": 20, "max_delay": 200}}
    with (
        backends(tmp_path) as (servers, resolver),
        HttpAgent(recovery=recovery, spares=8, maximum=24, outliers=None) as agent,
    ):
        agent.create_pool("svc.example", resolver=resolver)
        storm = Storm(agent, REQUESTS).start()
        for fault in range(FAULTS):
            while storm.done < (fault + 1) * REQUESTS // (FAULTS + 2):
                time.sleep(0.005)
            victim = servers[fault % len(servers)]
            began = time.monotonic()
            victim.kill()
            kills.append((began, time.monotonic()))
            victim.start()
        storm.join()
    assert storm.mixed == []
    assert storm.done == REQUESTS
    strange = [
        error
        for began, ended, error in storm.failed
        if not any(began <= over and ended >= at for at, over in kills)
    ]
    print(f"{len(storm.failed)} of {REQUESTS} failed, {len(kills)} kills")
    assert strange == []
