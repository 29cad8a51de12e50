"""Bugs of older pools that must not come back and that no scenario shows already."""

import io
import threading

import pytest

from pools import ConnectionPool, pool_monitor
from pools.logic.errors import ClaimTimeoutError
from pools.net.dns.cbresolve import main
from tests.pools.dns.resolver_run import NXDOMAIN, SRV, ResolverRun, a, srv
from tests.pools.live import LONG
from tests.pools.pool.pool_run import PoolRun
from tests.servers.dns.server import DNSServer


def test_aaaa_of_a_missing_name_is_asked_once():
    run = ResolverRun({(SRV, "SRV"): srv(("t.x", 1)), ("t.x", "A"): a("t.x", "10.0.0.1")})
    run.zone["t.x", "AAAA"] = NXDOMAIN
    run.start().advance(1000)
    assert run.questions().count(("t.x", "AAAA")) == 1


def test_no_aaaa_is_no_reason_to_wake_up_every_minute():
    run = ResolverRun({("svc.x", "A"): a("svc.x", "10.0.0.1")}, has_ipv6=False).start()
    run.events.clear()
    run.advance(3_500_000)
    assert run.events == []


def test_a_retrying_slot_that_is_not_wanted_any_more_goes_at_once():
    run = PoolRun()
    run.nets["b1"] = "refuse"
    run.add("b1")
    assert run.shape() == {"b1": {"retrying": 2}}
    run.remove("b1")
    assert run.shape() == {}


def test_a_claim_keeps_its_place_and_its_time_when_a_connection_breaks():
    run = PoolRun("b1", spares=0, maximum=1).advance(10).claim("a")
    run.advance(5).claim("b", timeout_ms=100)
    run.advance(50).claim("c", timeout_ms=100)
    run.lose(run.connections[0], OSError("reset"))
    run.nets["b1"] = "hang"
    run.release("a").advance(49)
    assert "b" not in run.answers
    run.advance(1)
    assert isinstance(run.slot("b"), ClaimTimeoutError)
    assert "c" not in run.answers


def test_busy_connections_are_given_up_last():
    run = PoolRun("b1", spares=3, maximum=3).claim("a").claim("b")
    idle = run.machine.idle[0].connection
    run.add("b2")
    assert not idle.is_open
    assert run.slot("a").connection.is_open


def test_the_snapshot_names_the_nameservers_of_a_pool():
    with DNSServer() as dns:
        dns.set("svc.example", "A", ["127.0.0.1"])
        servers = [f"127.0.0.1:{dns.port}"]
        pool = ConnectionPool(
            constructor=lambda backend: object(),
            domain="svc.example",
            recovery={"default": {"timeout": 1000, "retries": 1, "delay": 10}},
            spares=1,
            maximum=1,
            resolvers=servers,
        )
        pool.wait_for_state("running", timeout=LONG)
        shown = [p["resolvers"] for p in pool_monitor.snapshot()["pool"].values()]
        pool.stop()
        pool.wait_for_state("stopped", timeout=LONG)
    assert servers in shown


def test_a_snapshot_port_does_not_keep_the_command_alive():
    threads = {thread.name for thread in threading.enumerate()}
    assert main(["-k", "0", "-S", "127.0.0.1:1"], io.StringIO(), io.StringIO(), environ={}) == 0
    assert "kang" not in {thread.name for thread in threading.enumerate()} - threads


@pytest.mark.parametrize("waiting", [1, 5])
def test_claims_that_gave_up_cause_no_growth(waiting):
    run = PoolRun(spares=0, maximum=9)
    for i in range(waiting):
        run.claim(i, timeout_ms=10)
    run.machine.cancel(0)
    run.advance(20).add("b1").advance(10_000)
    assert run.connections == []


def test_backends_that_all_refuse_are_not_hammered():
    run = PoolRun(spares=1, maximum=4)
    run.nets.update(b1="refuse", b2="refuse")
    run.add("b1").add("b2")
    assert len(run.attempts) <= 4
    run.advance(1000)
    assert len(run.attempts) < 40
