"""Resolvers beside the name servers that people run."""

import heapq
import socket
import subprocess
import threading
import time

import dns.message
import dns.rrset
import pytest

from pools import DNSResolver
from tests.pools.live import LONG
from tests.pools.real.nameservers import KINDS, NAMES, TARGETS, nameserver
from tests.pools.real.programs import program

pytestmark = pytest.mark.soak
RECOVERY = {"default": {"timeout": 2000, "retries": 3, "delay": 100}}


def resolving(port, name, **options):
    return DNSResolver(name, RECOVERY, resolvers=[f"127.0.0.1:{port}"], **options)


def answers(port, name, **options):
    """Return the addresses and ports that a resolver finds behind a name."""
    with resolving(port, name, **options) as resolver:
        resolver.wait_for_state("running", "failed", timeout=LONG)
        return sorted((each.address, each.port) for each in resolver.list().values())


def dig(port, name, rdtype):
    """Return the lines that `dig` prints of an answer, without what it tells of aliases."""
    command = [program("dig"), "@127.0.0.1", "-p", str(port), name, rdtype, "+short"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return [
        line for line in said.stdout.splitlines() if not line.endswith("example.") or " " in line
    ]


@pytest.fixture(params=KINDS)
def server(request, tmp_path):
    with nameserver(request.param, tmp_path / "ns") as running:
        yield running


@pytest.mark.parametrize("name", ["both.example", "alias.example", "n7.example"])
def test_the_addresses_that_dig_finds(server, name):
    said = [line for rdtype in ("A", "AAAA") for line in dig(server.port, name, rdtype)]
    assert said
    assert answers(server.port, name, has_ipv6=True) == sorted((line, 80) for line in said)


def test_the_service_that_dig_finds_in_a_long_answer(server):
    """Its answer does not fit into a datagram, so it comes over TCP."""
    said = [line.split() for line in dig(server.port, "_http._tcp.large.example", "SRV")]
    addresses = {target: dig(server.port, target, "A")[0] for _, _, _, target in said}
    expected = sorted((addresses[target], int(port)) for _, _, port, target in said)
    assert len(expected) == TARGETS
    assert answers(server.port, "large.example", has_ipv6=False) == expected


def test_a_name_that_is_not_there(server):
    assert answers(server.port, "nothing.example") == []


def test_a_thousand_names(server):
    took = seconds_until_found(server.port, NAMES)
    print(f"{took:.1f} s")
    assert took < 30


def test_a_resolver_that_starts_while_its_server_is_dead(server):
    """It looks again at the pace of its recovery and floor, not after a minute."""
    server.kill()
    options = {"ttl_floor": 1000, "has_ipv6": False}
    with resolving(server.port, "n1.example", **options) as resolver:
        resolver.wait_for_state("failed", timeout=LONG)
        server.start()
        began = time.monotonic()
        resolver.wait_for_state("running", timeout=LONG)
        assert time.monotonic() - began < 30


def test_a_resolver_keeps_its_backends_while_its_server_is_dead(server):
    with resolving(server.port, "n1.example", ttl_floor=100, has_ipv6=False) as resolver:
        resolver.wait_for_state("running", timeout=LONG)
        server.kill()
        passed = threading.Event()
        resolver.on("updated", lambda error: passed.set() if error else None)
        resolver.resolve_now()
        assert passed.wait(LONG / 1000)
        assert [each.address for each in resolver.list().values()] == ["10.0.0.1"]
        server.start()


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
    resolvers = [resolving(port, f"n{i}.example", has_ipv6=False) for i in range(count)]
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
