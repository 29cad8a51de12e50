"""The trouble of one pool is not that of another."""

import socket
import threading

import pytest

from pools import ConnectionPool, HttpAgent, HttpsAgent, StaticIpResolver, Tls
from tests.pools.echo import RECOVERY, Echo, pooling
from tests.pools.live import LONG
from tests.servers.waiting import wait_until

MANY = 80  # more than the threads that all pools of a process once shared


def hanging_pools(gate, count):
    """Return pools whose constructors do not come back before the gate opens."""
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": 9}])
    resolver.start()
    options = {"resolver": resolver, "recovery": RECOVERY, "spares": 1, "maximum": 1}
    return [
        ConnectionPool(constructor=lambda backend: gate.wait(), **options) for _ in range(count)
    ]


def test_constructors_that_never_return_cost_their_own_pools_only():
    gate = threading.Event()
    stuck = hanging_pools(gate, MANY)
    try:
        with Echo() as echo, pooling(echo.port) as pool, pool.claim(timeout=LONG) as connection:
            assert connection.fileno() > 0
        assert {pool.state for pool in stuck} == {"starting"}
    finally:
        gate.set()
        for pool in stuck:
            pool.close()


@pytest.fixture
def silent():
    """Return the port of a server that accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        yield listener.getsockname()[1]


def test_silent_hosts_need_no_threads(web, silent):
    """Each of these hosts hangs in the middle of its TLS handshake."""
    before = threading.active_count()
    with HttpsAgent(tls=Tls(verify=False), spares=1, maximum=1) as troubled, HttpAgent() as agent:
        hosts = [f"127.0.1.{i}" for i in range(1, MANY + 1)]
        resolver = StaticIpResolver([{"address": "127.0.0.1", "port": silent}])
        resolver.start()
        pools = [troubled.create_pool(host, silent, resolver) for host in hosts]
        wait_until(lambda: all(pool.machine.slots.total for pool in pools))
        assert agent.get(web.url()).data == b"hello"
        assert {pool.state for pool in pools} == {"starting"}
        assert threading.active_count() < before + MANY / 2
        resolver.stop()


def test_an_attempt_that_is_given_up_closes_its_socket(silent):
    recovery = {"default": {"timeout": 20, "retries": 0, "delay": 1, "max_timeout": 20}}
    with HttpsAgent(tls=Tls(verify=False), recovery=recovery, spares=1, maximum=1) as agent:
        pool = agent.create_pool("127.0.0.1", silent)
        pool.wait_for_state("failed", timeout=LONG)
        assert "did not connect within" in str(pool.last_error)
