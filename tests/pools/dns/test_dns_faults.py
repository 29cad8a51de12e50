"""Whatever nameservers do, a resolver that has found its backends keeps them."""

import socket

import pytest

from tests.pools.live import IMPATIENT, SRV, Updates, addresses, resolving, started
from tests.servers.dns.server import DNSServer

FOUND = ["10.0.0.1:81", "10.0.0.2:82"]
KEEPS = [
    "drop",
    "servfail",
    "refused",
    "notimp",
    "formerr",
    "nxdomain",
    "nodata",
    "truncate_no_tcp",
    "garbage",
    "wrong_id",
    "wrong_name",
    "wrong_source",
    "slow",
    "cname_loop",
    "cname_nodata",
    "empty_reply",
    "short_reply",
]
WORKS = ["truncate", "duplicate", "poison_additional", "ttl_zero", "ttl_max", "cname"]


@pytest.fixture
def dns():
    with DNSServer() as server:
        targets = [(0, 0, 81, "a.svc.example"), (0, 0, 82, "b.svc.example")]
        server.set(SRV, "SRV", targets, ttl=300)
        server.set("a.svc.example", "A", ["10.0.0.1"], ttl=300)
        server.set("b.svc.example", "A", ["10.0.0.2"], ttl=300)
        yield server


@pytest.mark.parametrize("rdtype", ["SRV", "A"])
@pytest.mark.parametrize("mode", KEEPS)
def test_backends_are_kept_and_shown_as_stale(dns, mode, rdtype):
    with resolving(dns, recovery=IMPATIENT) as resolver:
        updates = Updates(resolver)
        assert started(resolver) == "running"
        dns.fault("*", rdtype, mode)
        error = updates.next(resolver.resolve_now)
        assert (addresses(resolver), resolver.state) == (FOUND, "running")
        assert error is not None
        assert resolver.stale_since is not None
        dns.clear_faults()
        assert updates.next(resolver.resolve_now) is None
        assert (addresses(resolver), resolver.stale_since) == (FOUND, None)


@pytest.mark.parametrize("rdtype", ["SRV", "A"])
@pytest.mark.parametrize("mode", WORKS)
def test_odd_but_usable_answers_are_used(dns, mode, rdtype):
    with resolving(dns) as resolver:
        dns.fault("*", rdtype, mode)
        assert started(resolver) == "running"
        assert addresses(resolver) == FOUND


@pytest.mark.parametrize("mode", KEEPS)
def test_one_bad_answer_is_survived_by_a_retry_or_kept(dns, mode):
    with resolving(dns, recovery=IMPATIENT) as resolver:
        updates = Updates(resolver)
        started(resolver)
        dns.fault(SRV, "SRV", mode, times=1)
        updates.next(resolver.resolve_now)
        assert addresses(resolver) == FOUND


def test_a_name_that_flaps_keeps_its_backends(dns):
    with resolving(dns) as resolver:
        updates = Updates(resolver)
        started(resolver)
        for _ in range(5):
            dns.fault(SRV, "SRV", "nxdomain", times=1)
            assert updates.next(resolver.resolve_now) is not None
            assert updates.next(resolver.resolve_now) is None
        assert addresses(resolver) == FOUND


def test_many_records_come_over_tcp(dns):
    dns.set("a.svc.example", "A", [f"10.1.{i // 250}.{i % 250}" for i in range(250)])
    dns.set(SRV, "SRV", [(0, 0, 81, "a.svc.example")])
    with resolving(dns) as resolver:
        started(resolver)
        assert resolver.count() == 250
        assert ("a.svc.example", "A", "tcp") in dns.queries


def test_r30_a_long_answer_is_asked_for_over_tcp_from_then_on(dns):
    with resolving(dns) as resolver:
        updates = Updates(resolver)
        dns.fault(SRV, "SRV", "truncate")
        started(resolver)
        updates.next(resolver.resolve_now)
        asked = [transport for name, _, transport in dns.queries if name == SRV]
        assert asked == ["udp", "tcp", "tcp"]


def test_a_dead_server_beside_a_good_one_does_no_harm(dns):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        servers = [f"127.0.0.1:{silent.getsockname()[1]}", f"127.0.0.1:{dns.port}"]
        with resolving(resolvers=servers) as resolver:
            assert started(resolver) == "running"
            assert addresses(resolver) == FOUND


def test_a_closed_port_beside_a_good_server_does_no_harm(dns):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with resolving(resolvers=[f"127.0.0.1:{port}", f"127.0.0.1:{dns.port}"]) as resolver:
        assert started(resolver) == "running"


@pytest.mark.parametrize("mode", ["refused", "servfail", "nodata", "nxdomain"])
def test_a_lame_server_beside_a_good_one_does_no_harm(dns, mode):
    with DNSServer() as lame:
        lame.fault("*", "*", mode)
        with resolving(lame, dns) as resolver:
            assert started(resolver) == "running"
            assert addresses(resolver) == FOUND


def test_all_servers_dead_empties_nothing():
    with DNSServer() as dns:
        dns.set("svc.example", "A", ["10.0.0.1"], ttl=300)
        with resolving(dns, recovery=IMPATIENT) as resolver:
            updates = Updates(resolver)
            started(resolver)
            dns.fault("*", "*", "drop")
            assert updates.next(resolver.resolve_now) is not None
            assert addresses(resolver) == ["10.0.0.1:80"]
