"""What the documentation of the original promises, to the letter."""

import io
import logging
import threading

import pytest

from pools import ConnectionPool, ConnectionSet, HttpAgent, Resolver, StaticIpResolver, pool_monitor
from pools.net.dns.cbresolve import main
from tests.pools.echo import RECOVERY, Echo, connect, pooling
from tests.pools.live import LONG
from tests.servers.waiting import wait_until


@pytest.fixture
def echo():
    with Echo() as server:
        yield server


class Fixed(Resolver):
    """A resolver as a user writes it: with the public interface only."""

    def __init__(self, *ports):
        super().__init__()
        self._ports = ports

    def start(self):
        super().start()
        self.publish([{"address": "127.0.0.1", "port": port} for port in self._ports])


def test_a_resolver_of_ones_own_with_recovery_left_out(echo):
    with Fixed(echo.port) as resolver:
        with ConnectionPool(constructor=connect, resolver=resolver, spares=1) as pool:
            with pool.claim(timeout=LONG) as connection:
                assert connection.getpeername()[1] == echo.port
            resolver.publish([])
            wait_until(lambda: pool.is_empty)
        assert (resolver.state, resolver.count()) == ("running", 0)


def test_a_resolver_of_ones_own_may_know_names_and_weights():
    with Fixed() as resolver:
        ranked = {"name": "a.example", "priority": 1, "weight": 80}
        resolver.publish([{"address": "10.0.0.1", "port": 80, **ranked}])
        (backend,) = resolver.list().values()
    assert {name: getattr(backend, name) for name in ranked} == ranked


def test_a_resolver_of_ones_own_that_fails():
    class Failing(Resolver):
        def start(self):
            super().start()
            self.fail("nothing found")

    resolver = Failing()
    with ConnectionPool(constructor=connect, resolver=resolver) as pool:
        resolver.start()
        pool.wait_for_state("failed", timeout=LONG)
        assert "nothing found" in str(pool.last_error)
        assert str(resolver.get_last_error()) == "nothing found"
        resolver.publish([])
        assert resolver.get_state() == "running"


def test_spares_maximum_and_recovery_have_the_defaults_of_the_original(echo):
    resolver = Fixed(echo.port)
    with resolver, ConnectionPool(constructor=connect, resolver=resolver) as pool:
        assert (pool.machine.config.spares, pool.machine.config.maximum) == (4, 16)
        wait_until(lambda: pool.get_stats()["idle_connections"] == 4)


def test_a_pool_that_looks_up_names_needs_a_recovery():
    with pytest.raises(TypeError, match="recovery"):
        ConnectionPool(constructor=connect, domain="svc.example")


def test_a_logger_for_agent_pool_and_resolver(echo):
    heard = []
    logger = logging.Logger("mine")
    logger.addHandler(logging.NullHandler())
    logger.warning = lambda text, *values: heard.append(text % values)
    with pooling(echo.port, log=logger, max_lease=1) as pool:
        pool.claim(timeout=LONG)
        wait_until(lambda: heard)
    assert "held longer than" in heard[0] and __file__ in heard[0]
    with HttpAgent(log=logger) as agent:
        assert agent.create_pool("svc.example").resolver.log is logger
        assert agent.get_pool("svc.example").log is logger


def test_the_log_tells_which_backends_die_and_come_back(echo, caplog):
    caplog.set_level("DEBUG", "pools")
    is_up = threading.Event()

    def construct(backend, timeout_ms):
        if not is_up.is_set():
            raise ConnectionRefusedError("refused")
        return connect(backend, timeout_ms)

    options = {"constructor": construct, "domain": "svc.example", "spares": 1, "maximum": 1}
    with pooling(echo.port, **options) as pool:
        wait_until(lambda: "failed" in caplog.text)
        is_up.set()
        wait_until(lambda: "is running" in caplog.text)
        where = f"127.0.0.1:{echo.port}"
        cause = f"connecting to {where} failed: refused"
        said = [(record.levelname, record.getMessage()) for record in caplog.records]
        assert set(said) == {
            ("WARNING", f"pool svc.example: {where} is dead: {cause}"),
            ("WARNING", f"pool svc.example failed: {cause}"),
            ("INFO", f"pool svc.example: {where} is back"),
            ("DEBUG", "pool svc.example is running"),
        }
        assert pool.state == "running"


def test_a_log_that_blocks_delays_no_pool(echo):
    over, begun = threading.Event(), threading.Event()
    logger = logging.Logger("slow")

    def write(*values):
        begun.set()
        over.wait(LONG / 1000)

    logger.warning = logger.info = logger.debug = write
    try:
        with pooling(echo.port, log=logger, max_lease=1) as pool:
            pool.claim(timeout=LONG)
            assert begun.wait(LONG / 1000)
            with pooling(echo.port) as other, other.claim(timeout=LONG):
                assert not over.is_set()
    finally:
        over.set()


def test_a_connection_reports_its_own_error(echo):
    reports = []

    def construct(backend, timeout_ms, lost):
        reports.append(lost)
        return connect(backend, timeout_ms)

    with pooling(echo.port, constructor=construct, spares=1, maximum=1) as pool:
        with pool.claim(timeout=LONG) as first:
            pass
        reports[0](ConnectionError("it is of no use"))
        wait_until(lambda: len(reports) == 2)
        with pool.claim(timeout=LONG) as second:
            assert second is not first
        assert pool.get_stats()["counters"]["error-while-connected"] == 1
        assert "of no use" in str(pool.last_error)


def test_a_connection_is_told_that_it_is_unwanted(echo):
    told = threading.Event()

    class Wrapped:
        def __init__(self, backend):
            self.sock = connect(backend, LONG)

        def set_unwanted(self):
            told.set()

        def close(self):
            self.sock.close()

    with Fixed(echo.port) as resolver:
        options = {"constructor": Wrapped, "spares": 1, "maximum": 1, "resolver": resolver}
        with ConnectionPool(recovery=RECOVERY, **options) as pool, pool.claim(timeout=LONG):
            resolver.publish([])
            assert told.wait(LONG / 1000)


def test_stop_ends_although_somebody_keeps_a_lease(echo):
    with pooling(echo.port, spares=1, maximum=1) as pool:
        claim = pool.claim(timeout=LONG)
        connection = claim.wait()
        pool.stop(drain=10)
        pool.wait_for_state("stopped", timeout=LONG)
        assert connection.fileno() == -1
        assert claim.state == "revoked"


def test_the_snapshot_of_a_set_has_its_machines():
    class Client:
        def close(self):
            pass

    with StaticIpResolver([{"address": "127.0.0.1", "port": 9}]) as resolver:
        options = {"resolver": resolver, "target": 1, "maximum": 1, "domain": "kang-set"}
        with ConnectionSet(constructor=lambda backend: Client(), **options) as connections:
            connections.on("added", lambda *event: None)
            connections.on("removed", lambda ckey, connection, handle: handle.release())
            wait_until(lambda: connections.get_connections())
            shown = [
                each
                for each in pool_monitor.snapshot()["set"].values()
                if each["options"]["domain"] == "kang-set"
            ][-1]
            (key,) = shown["backends"]
            assert shown["fsms"] == {key: {"busy": 1}}
            assert shown["connections"] == [f"{key}.1"]
            assert (shown["target"], shown["maximum"]) == (1, 1)


def test_static_addresses_need_no_port():
    stdout, stderr = io.StringIO(), io.StringIO()
    assert main(["-S", "127.0.0.1", "10.0.0.1:81"], stdout, stderr, environ={}) == 0
    assert [line.split()[:2] for line in stdout.getvalue().splitlines()] == [
        ["127.0.0.1", "80"],
        ["10.0.0.1", "81"],
    ]
    stdout = io.StringIO()
    assert main(["-S", "-p", "82", "127.0.0.1"], stdout, stderr, environ={}) == 0
    assert stdout.getvalue().split()[1] == "82"
