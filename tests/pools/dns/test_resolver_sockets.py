"""Resolvers against a real DNS server on loopback."""

import socket
import threading

import pytest

from pools import DNSResolver, InvalidInput, StaticIpResolver, resolver_for_ip_or_domain
from pools.net.dns.nameservers import system_nameservers
from tests.pools.live import IMPATIENT, LONG, RECOVERY, SRV, Updates, addresses, resolving, started
from tests.servers.dns.server import DNSServer
from tests.servers.waiting import wait_until


@pytest.fixture
def dns():
    with DNSServer() as server:
        yield server


def test_srv_with_additional(dns):
    extra = [("a.svc.example", "A", "10.0.0.1", 30)]
    targets = [(0, 5, 81, "a.svc.example"), (1, 6, 82, "b.svc.example")]
    dns.set(SRV, "SRV", targets, ttl=30, additional=extra)
    dns.set("b.svc.example", "A", ["10.0.0.2"])
    with resolving(dns) as resolver:
        assert started(resolver) == "running"
        assert addresses(resolver) == ["10.0.0.1:81", "10.0.0.2:82"]
        assert dns.queries == [(SRV, "SRV", "udp"), ("b.svc.example", "A", "udp")]
        weights = {b.name: (b.priority, b.weight) for b in resolver.list().values()}
        assert weights == {"a.svc.example": (0, 5), "b.svc.example": (1, 6)}


def test_plain_name_with_both_families(dns):
    dns.set("svc.example", "A", ["10.0.0.1"])
    dns.set("svc.example", "AAAA", ["2001:db8::1"])
    with resolving(dns, has_ipv6=True) as resolver:
        started(resolver)
        assert addresses(resolver) == ["10.0.0.1:80", "2001:db8::1:80"]


def test_nothing_found_is_failed_and_recovers(dns):
    with resolving(dns) as resolver:
        assert started(resolver) == "failed"
        assert "(_http._tcp.)svc.example" in str(resolver.last_error)
        dns.set("svc.example", "A", ["10.0.0.1"])
        resolver.resolve_now()
        assert resolver.wait_for_state("running", timeout=LONG) == "running"
        wait_until(lambda: resolver.last_error is None)


def test_changes_are_announced_removed_first(dns):
    dns.set("svc.example", "A", ["10.0.0.1", "10.0.0.2"])
    events = []
    with resolving(dns) as resolver:
        resolver.on("added", lambda key, backend: events.append(("added", backend.address)))
        resolver.on("removed", lambda key: events.append(("removed", key)))
        updates = Updates(resolver)
        started(resolver)
        gone = next(key for key, b in resolver.list().items() if b.address == "10.0.0.1")
        events.clear()
        dns.set("svc.example", "A", ["10.0.0.2", "10.0.0.3"])
        updates.next(resolver.resolve_now)
        assert events == [("removed", gone), ("added", "10.0.0.3")]


def test_r33_stop_is_the_end_of_events(dns):
    dns.fault("*", "*", "slow")
    with resolving(dns) as resolver:
        states = []
        resolver.on("state", states.append)
        updates = Updates(resolver)
        resolver.start()
        dns.wait_for_queries(1)
        resolver.stop()
        dns.release()
        wait_until(lambda: states[-1:] == ["stopped"])
        assert updates.errors == []
        assert resolver.state == "stopped"


def test_a_restart_announces_everything_again(dns):
    dns.set("svc.example", "A", ["10.0.0.1"])
    with resolving(dns) as resolver:
        added = []
        resolver.on("added", lambda key, backend: added.append(backend.address))
        started(resolver)
        resolver.stop()
        started(resolver)
        wait_until(lambda: added == ["10.0.0.1", "10.0.0.1"])


def test_r31_nameservers_behind_a_name():
    with DNSServer() as system, DNSServer() as found:
        for server in (system, found):
            server.set("_dns._udp.ns.example", "SRV", [(0, 0, found.port, "n.ns.example")])
            server.set("n.ns.example", "A", ["127.0.0.1"])
        found.set("svc.example", "A", ["10.0.0.1"])
        servers = [f"127.0.0.1:{system.port}"]
        with resolving(resolvers=["ns.example"], system=lambda: servers) as resolver:
            assert started(resolver) == "running"
            assert addresses(resolver) == ["10.0.0.1:80"]
            assert {name for name, _, _ in system.queries} == {
                "_dns._udp.ns.example",
                "n.ns.example",
            }
            assert {SRV, "svc.example"} <= {name for name, _, _ in found.queries}
            assert resolver.nameservers == (f"127.0.0.1:{found.port}",)


def test_r31_the_name_of_the_nameservers_is_refreshed_by_those_found():
    with DNSServer() as system, DNSServer() as found:
        for server in (system, found):
            server.set("_dns._udp.ns.example", "SRV", [(0, 0, found.port, "n.ns.example")])
            server.set("n.ns.example", "A", ["127.0.0.1"])
        found.set("svc.example", "A", ["10.0.0.1"])
        servers = [f"127.0.0.1:{system.port}"]
        with resolving(resolvers=["ns.example"], system=lambda: servers) as resolver:
            started(resolver)
            bootstrap = resolver._bootstrap._resolver
            wait_until(lambda: bootstrap.nameservers == (f"127.0.0.1:{found.port}",))
            Updates(bootstrap).next(bootstrap.resolve_now)
            assert ("_dns._udp.ns.example", "SRV", "udp") in found.queries


def test_r32_a_nameserver_that_leaves_is_asked_no_more():
    with DNSServer() as first, DNSServer() as second:
        both = [(0, 0, first.port, "n.ns.example"), (0, 0, second.port, "n.ns.example")]
        for server in (first, second):
            server.set("_dns._udp.ns.example", "SRV", both)
            server.set("n.ns.example", "A", ["127.0.0.1"])
            server.set("svc.example", "A", ["10.0.0.1"])
        servers = [f"127.0.0.1:{first.port}"]
        with resolving(resolvers=["ns.example"], system=lambda: servers) as resolver:
            started(resolver)
            wait_until(lambda: len(resolver.nameservers) == 2)
            bootstrap = resolver._bootstrap._resolver
            for server in (first, second):
                server.set("_dns._udp.ns.example", "SRV", both[:1])
            Updates(bootstrap).next(bootstrap.resolve_now)
            wait_until(lambda: resolver.nameservers == (f"127.0.0.1:{first.port}",))


def test_a_bootstrap_that_finds_nothing_is_told():
    with DNSServer() as system:
        servers = [f"127.0.0.1:{system.port}"]
        with resolving(resolvers=["ns.example"], system=lambda: servers) as resolver:
            assert started(resolver) == "failed"
            assert "no nameserver is known" in str(resolver.last_error)


def test_a_bootstrap_serves_again_after_its_last_user_left():
    with DNSServer() as system:
        system.set("_dns._udp.ns.example", "SRV", [(0, 0, system.port, "n.ns.example")])
        system.set("n.ns.example", "A", ["127.0.0.1"])
        system.set("svc.example", "A", ["10.0.0.1"])
        for _ in range(2):
            servers = [f"127.0.0.1:{system.port}"]
            with resolving(resolvers=["ns.example"], system=lambda s=servers: s) as resolver:
                assert started(resolver) == "running"


def test_no_nameserver_at_all_is_an_error_and_no_crash(tmp_path):
    assert system_nameservers(tmp_path / "missing") == []
    with resolving(resolvers=[], system=list) as resolver:
        assert started(resolver) == "failed"
        assert "no nameserver is known" in str(resolver.last_error)


def test_many_names_need_one_thread(dns):
    for i in range(200):
        dns.set(f"n{i}.example", "A", ["10.0.0.1"])
    before = threading.active_count()
    options = {"resolvers": [f"127.0.0.1:{dns.port}"], "has_ipv6": False}
    patient = {"default": {"timeout": 20_000, "retries": 3, "delay": 5}}
    resolvers = [DNSResolver(f"n{i}.example", patient, **options) for i in range(200)]
    for resolver in resolvers:
        resolver.start()
    states = {
        resolver.wait_for_state("running", "failed", timeout=60_000) for resolver in resolvers
    }
    assert threading.active_count() <= before + 1
    for resolver in resolvers:
        resolver.stop()
    assert states == {"running"}


def test_a_wrong_source_is_not_listened_to(dns):
    dns.set("svc.example", "A", ["10.0.0.1"])
    dns.fault("svc.example", "A", "wrong_source", times=1)
    with resolving(dns, recovery=IMPATIENT) as resolver:
        assert started(resolver) == "running"
        assert dns.queries.count(("svc.example", "A", "udp")) > 1  # a slow machine asks again


def test_nameservers_by_ipv6(dns):
    with DNSServer(host="::1") as six:
        six.set("svc.example", "A", ["10.0.0.1"])
        with resolving(resolvers=[f"[::1]:{six.port}"]) as resolver:
            assert started(resolver) == "running"


@pytest.mark.parametrize(
    "resolvers", [["a.example", "b.example"], ["a.example", "10.0.0.1"], ["no good"]]
)
def test_bad_lists_of_resolvers(resolvers):
    with pytest.raises(InvalidInput):
        DNSResolver("svc.example", RECOVERY, resolvers=resolvers)


def test_one_string_is_the_dynamic_mode_or_one_address():
    assert DNSResolver("svc.example", RECOVERY, resolvers="ns.example")._behind == "ns.example"
    assert DNSResolver("svc.example", RECOVERY, resolvers="10.0.0.1")._servers == ["10.0.0.1"]


@pytest.mark.parametrize("wrong", [5, [None], {"10.0.0.1"}])
def test_what_names_no_nameservers_is_refused(wrong):
    with pytest.raises(TypeError, match="resolvers must be"):
        DNSResolver("svc.example", RECOVERY, resolvers=wrong)


# -- static resolvers ------------------------------------------------------------------------


def test_s1_static_backends_in_order():
    resolver = StaticIpResolver(
        [{"address": "127.0.0.1"}, {"address": "127.0.0.2", "port": 5}], default_port=2021
    )
    added = []
    resolver.on("added", lambda key, backend: added.append(backend.name))
    assert started(resolver) == "running"
    assert added == ["127.0.0.1:2021", "127.0.0.2:5"]
    resolver.stop()


def test_s1_an_empty_list_is_running_too():
    resolver = StaticIpResolver([])
    assert started(resolver) == "running"
    assert resolver.count() == 0
    resolver.stop()


def test_static_duplicates_are_one():
    same = [{"address": "::1", "port": 1}, {"address": "0:0::1", "port": 1}]
    resolver = StaticIpResolver(same)
    started(resolver)
    assert resolver.count() == 1
    resolver.stop()


@pytest.mark.parametrize(
    ("item", "where"),
    [
        ({"address": "host"}, "backends[0].address"),
        ({"address": "1.2.3.4"}, "backends[0].port"),
        ({"address": "1.2.3.4", "port": 70000}, "backends[0].port"),
        ({"address": "1.2.3.4", "port": "80"}, "backends[0].port"),
        ({"address": None, "port": 80}, "backends[0].address"),
        ({"address": "1.2.3.4", "port": 80, "weight": -1}, "backends[0].weight"),
        ({"address": "1.2.3.4", "port": 80, "name": 5}, "backends[0].name"),
    ],
)
def test_static_backends_are_checked(item, where):
    with pytest.raises(InvalidInput) as caught:
        StaticIpResolver([item])
    assert where in str(caught.value)


def test_the_right_resolver_for_the_input():
    static = resolver_for_ip_or_domain("127.0.0.1:2020", {"recovery": RECOVERY})
    assert isinstance(static, StaticIpResolver)
    found = resolver_for_ip_or_domain("svc.example:99", {"recovery": RECOVERY})
    assert isinstance(found, DNSResolver)
    assert (found.config.domain, found.config.default_port) == ("svc.example", 99)


@pytest.mark.parametrize(("floor", "ceiling"), [(0, 5), (10, 5), (float("nan"), 5)])
def test_the_floor_is_below_the_ceiling(floor, ceiling):
    with pytest.raises(InvalidInput, match="ttl_floor"):
        DNSResolver("svc.example", RECOVERY, ttl_floor=floor, ttl_ceiling=ceiling)


@pytest.mark.parametrize("text", ["127.0.0.1:70000", "no good", "", "127.0.0.1"])
def test_bad_input_is_invalid(text):
    with pytest.raises(InvalidInput):
        resolver_for_ip_or_domain(text, {"recovery": RECOVERY})


@pytest.mark.parametrize(("text", "config"), [(None, {}), ("h", []), ("h", {})])
def test_wrong_types_are_the_programmers_mistake(text, config):
    with pytest.raises(TypeError):
        resolver_for_ip_or_domain(text, config)


def test_ports_are_bound_by_the_kernel_at_random(dns):
    """Two questions never come from one socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(LONG / 1000)
        with resolving(
            resolvers=[f"127.0.0.1:{server.getsockname()[1]}"], recovery=IMPATIENT
        ) as resolver:
            resolver.start()
            sources, ids = set(), set()
            for _ in range(2):
                wire, source = server.recvfrom(4096)
                sources.add(source)
                ids.add(wire[:2])
        assert len(sources) == len(ids) == 2
