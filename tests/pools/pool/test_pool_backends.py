"""Pools with threads and real connections: backends that come, go, hang and fail."""

import logging
import math
import socket
import threading

import pytest

from pools import (
    ClaimError,
    ConnectionPool,
    InvalidInput,
    PoolFailedError,
)
from tests.pools.echo import RECOVERY, Echo, connect, pooling
from tests.pools.live import LONG
from tests.servers.dns.server import DNSServer
from tests.servers.ports import free_port
from tests.servers.proxy.server import TCPProxy
from tests.servers.waiting import wait_until


@pytest.fixture
def echo():
    with Echo() as server:
        yield server


def test_p5_a_peer_that_hangs_up_is_noticed_while_idle(echo):
    with pooling(echo.port, spares=1, maximum=1, stable_after=0.0) as pool:
        wait_until(lambda: pool.get_stats()["idle_connections"] == 1 and echo.peers)
        echo.peers[0].close()
        wait_until(lambda: len(echo.peers) == 2)
        wait_until(lambda: pool.get_stats()["idle_connections"] == 1)
        assert pool.state == "running"


def test_p6_a_peer_that_hangs_up_while_claimed_is_replaced(echo):
    with pooling(echo.port, spares=0, maximum=1) as pool:
        claim = pool.claim(timeout=LONG)
        old = claim.wait()
        wait_until(lambda: echo.peers)
        echo.peers[0].close()
        assert old.recv(1) == b""
        wait_until(lambda: any(slot.doomed for slot in pool.machine.slots.all()))
        claim.release()
        with pool.claim(timeout=LONG) as new:
            assert new is not old


def test_p8_down_then_up():
    port = free_port()
    with pooling(port) as pool:
        assert pool.wait_for_state("failed", timeout=LONG) == "failed"
        with pytest.raises(PoolFailedError) as caught:
            pool.claim()
        assert "refused" in str(caught.value.__cause__)
        with socket.create_server(("127.0.0.1", port)):
            assert pool.wait_for_state("running", timeout=LONG) == "running"
            assert pool.machine.roster.dead == {}


def test_p7_a_dead_backend_is_not_used(echo):
    with pooling(echo.port, free_port()) as pool:
        wait_until(lambda: pool.machine.roster.dead)
        for _ in range(10):
            with pool.claim(timeout=LONG) as connection:
                assert connection.getpeername()[1] == echo.port


@pytest.mark.parametrize("mode", ["refuse", "cut"])
def test_a_backend_that_accepts_and_resets_becomes_dead(echo, mode):
    with TCPProxy("127.0.0.1", echo.port) as proxy:
        proxy.mode = mode
        with pooling(proxy.port, spares=1, maximum=1) as pool:
            assert pool.wait_for_state("failed", timeout=LONG) == "failed"
            assert proxy.connections < 50


def test_a_hung_constructor_times_out():
    gate = threading.Event()

    def hang(backend):
        gate.wait()
        raise OSError("too late")

    quick = {"default": {"timeout": 20, "retries": 0, "delay": 1000}}
    with pooling(9, constructor=hang, recovery=quick) as pool:
        assert pool.wait_for_state("failed", timeout=LONG) == "failed"
        assert "did not connect within 20ms" in str(pool.last_error)
        gate.set()


def test_constructors_that_hang_leave_threads_for_others():
    gate, calls = threading.Event(), []

    def hang(backend):
        calls.append(backend)
        gate.wait()
        raise OSError("too late")

    quick = {"default": {"timeout": 1, "retries": 1, "delay": 1, "max_timeout": 1, "max_delay": 1}}
    with pooling(9, constructor=hang, recovery=quick, spares=1, maximum=1) as pool:
        wait_until(lambda: pool.get_stats()["counters"].get("error-during-connect", 0) > 30)
        assert len(calls) <= 8
        wait_until(lambda: "have not come back" in str(pool.last_error))
        gate.set()
        wait_until(lambda: len(calls) > 8)


class Picky:
    """Behave like connections of some databases: once closed it has no file number."""

    def __init__(self, backend, timeout_ms):
        self._socket = connect(backend, timeout_ms)

    def fileno(self):
        if self._socket.fileno() < 0:
            raise RuntimeError("the connection is closed")
        return self._socket.fileno()

    def close(self):
        self._socket.close()


def test_a_connection_that_its_user_closed_is_replaced(echo):
    with pooling(echo.port, constructor=Picky, spares=1, maximum=1) as pool:
        for _ in range(3):
            claim = pool.claim(timeout=LONG)
            claim.wait().close()
            claim.close()
        wait_until(lambda: len(echo.peers) >= 3)


def test_a_late_connection_is_closed():
    gate, made = threading.Event(), []

    class Late:
        closed = False

        def close(self):
            self.closed = True

    def slow(backend):
        gate.wait()
        made.append(Late())
        return made[-1]

    quick = {"default": {"timeout": 20, "retries": 0, "delay": 1000}}
    with pooling(9, constructor=slow, recovery=quick, spares=1, maximum=1) as pool:
        pool.wait_for_state("failed", timeout=LONG)
        gate.set()
        wait_until(lambda: any(late.closed for late in made))


def test_checks_run_on_idle_connections(echo):
    checked = []

    def check(handle, connection):
        checked.append(connection)
        handle.release()

    with pooling(echo.port, checker=check, check_timeout=5, check_limit=LONG) as pool:
        wait_until(lambda: len(checked) > 5)
        assert pool.state == "running"


@pytest.mark.parametrize("verdict", [False, OSError("no")])
def test_a_checker_may_return_or_raise_its_verdict(echo, verdict):
    def check(handle, connection):
        if verdict is not False:
            raise verdict
        return False

    with pooling(echo.port, checker=check, check_timeout=5, check_limit=LONG) as pool:
        assert pool.wait_for_state("failed", timeout=LONG) == "failed"


def test_a_hung_check_holds_nothing_up(echo):
    gate = threading.Event()

    def check(handle, connection):
        gate.wait()

    with pooling(echo.port, spares=1, checker=check, check_timeout=5, check_limit=20) as pool:
        wait_until(lambda: pool.get_stats()["counters"].get("check-failed"))
        gate.set()


def test_a_leaked_claim_is_reported_with_its_place(echo, caplog):
    caplog.set_level(logging.WARNING, "pools")
    with pooling(echo.port, max_lease=500) as pool:
        claim = pool.claim(timeout=LONG)
        wait_until(lambda: claim.state == "revoked")
        wait_until(lambda: "test_pool_backends.py:" in caplog.text)
        with pytest.raises(ClaimError):
            claim.wait()


def test_p13_a_backend_that_leaves_dns_is_drained(echo):
    with DNSServer() as dns, Echo() as other:
        both = [(0, 0, echo.port, "a.svc.example"), (0, 0, other.port, "a.svc.example")]
        dns.set("_http._tcp.svc.example", "SRV", both)
        dns.set("a.svc.example", "A", ["127.0.0.1"])
        pool = ConnectionPool(
            constructor=connect,
            domain="svc.example",
            recovery=RECOVERY,
            spares=2,
            maximum=4,
            resolvers=[f"127.0.0.1:{dns.port}"],
            resolver_options={"ttl_floor": 1, "has_ipv6": False},
        )
        wait_until(lambda: idle_ports(pool) == sorted([echo.port, other.port]))
        claims = [pool.claim(timeout=LONG) for _ in range(2)]
        ports = [claim.wait().getpeername()[1] for claim in claims]
        held = claims[ports.index(other.port)]
        dns.set("_http._tcp.svc.example", "SRV", both[:1])
        pool.resolver.resolve_now()
        wait_until(lambda: len(pool.machine.roster.backends) == 1)
        assert held.connection.fileno() > 0
        for claim in claims:
            claim.release()
        wait_until(lambda: held.connection.fileno() == -1)
        pool.stop()
        pool.wait_for_state("stopped", timeout=LONG)
        assert pool.resolver.state == "stopped"


def idle_ports(pool):
    with pool._lock:
        return sorted(slot.backend.port for slot in pool.machine.idle)


def test_the_pool_fails_with_its_resolver():
    with DNSServer() as dns:
        pool = ConnectionPool(
            constructor=connect,
            domain="svc.example",
            recovery=RECOVERY,
            spares=1,
            maximum=1,
            resolvers=[f"127.0.0.1:{dns.port}"],
        )
        pool.wait_for_state("failed", timeout=LONG)
        with pytest.raises(PoolFailedError) as caught:
            pool.claim()
        assert "svc.example" in str(caught.value.__cause__.__cause__)
        pool.stop()


@pytest.mark.parametrize(
    "options",
    [
        {"spares": 5, "maximum": 4},
        {"spares": -1},
        {"maximum": 0, "spares": 0},
        {"spares": 1.5},
        {"target_claim_delay": 0},
        {"max_churn_rate": 0},
        {"decoherence_interval": 5},
        {"max_lease": 0},
        {"max_waiting": -1},
        {"checker": print, "check_timeout": -1},
        {"check_limit": math.nan},
    ],
)
def test_bad_options(options):
    with pytest.raises(InvalidInput), pooling(**options):
        raise AssertionError("such a pool can not be made")


def test_a_constructor_is_needed():
    with pytest.raises(TypeError):
        ConnectionPool(constructor=None, recovery=RECOVERY, spares=1, maximum=1)


def test_claims_do_not_pass_through_the_driver(echo):
    """A claim and its release without contention are answered in the calling thread."""
    with pooling(echo.port, spares=2, maximum=4) as pool:
        wait_until(lambda: pool.get_stats()["idle_connections"] == 2)
        with pool.claim():
            wait_until(lambda: pool.get_stats()["total_connections"] == 3)
            wait_until(lambda: pool.get_stats()["idle_connections"] == 2)
        calls = []
        call_soon = pool.driver.call_soon
        pool.driver.call_soon = lambda call: (calls.append(call), call_soon(call))
        for _ in range(100):
            pool.claim().release()
        pool.driver.call_soon = call_soon
        assert len(calls) < 10
