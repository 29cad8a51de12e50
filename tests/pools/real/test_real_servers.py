"""Agents and resolvers beside the servers that people run."""

import heapq
import socket
import sys
import threading
import time
from contextlib import contextmanager

import dns.message
import dns.rrset
import pytest

from pools import DNSResolver, HttpAgent, HttpsAgent, PoolsError, StaticIpResolver, Tls
from tests.pools.live import LONG
from tests.pools.real.programs import haproxy, knot, nginx, running
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


def test_a_thousand_names_of_knot(tmp_path):
    with knot(tmp_path / "k", 1000) as server:
        assert seconds_until_found(server.port, 1000) < 30


class Late(threading.Thread):
    """A name server that answers everything, 300 ms late."""

    def __init__(self, delay=0.3):
        super().__init__(daemon=True)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self._socket.bind(("127.0.0.1", 0))
        self._delay = delay
        self.port = self._socket.getsockname()[1]
        self.asked = 0
        self.start()

    def run(self):
        later = []
        while True:
            self._socket.settimeout(max(0.001, later[0][0] - time.monotonic()) if later else None)
            try:
                wire, peer = self._socket.recvfrom(4096)
            except TimeoutError:
                pass
            except OSError:
                return
            else:
                self.asked += 1
                heapq.heappush(later, (time.monotonic() + self._delay, self.asked, wire, peer))
            while later and later[0][0] <= time.monotonic():
                _, _, wire, peer = heapq.heappop(later)
                self._socket.sendto(self._answer(wire), peer)

    def _answer(self, wire):
        question = dns.message.from_wire(wire)
        reply = dns.message.make_response(question)
        asked = question.question[0]
        if asked.rdtype == 1:
            reply.answer.append(dns.rrset.from_text(asked.name, 60, "IN", "A", "10.0.0.1"))
        else:
            reply.set_rcode(3)
        return reply.to_wire()


def seconds_until_found(port, count):
    recovery = {"default": {"timeout": 2000, "retries": 3, "delay": 100}}
    options = {"resolvers": [f"127.0.0.1:{port}"], "has_ipv6": False}
    resolvers = [DNSResolver(f"n{i}.example", recovery, **options) for i in range(count)]
    began = time.monotonic()
    for resolver in resolvers:
        resolver.start()
    states = {resolver.wait_for_state("running", "failed", timeout=LONG) for resolver in resolvers}
    took = time.monotonic() - began
    for resolver in resolvers:
        resolver.stop()
    assert states == {"running"}
    return took


def test_a_thousand_names_of_a_server_that_is_300_ms_late():
    server = Late()
    took = seconds_until_found(server.port, 1000)
    print(f"{took:.1f} s, {server.asked} questions")
    assert server.asked < 2200  # two for each name


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
