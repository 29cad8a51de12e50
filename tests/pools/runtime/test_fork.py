"""A forked child begins anew, and never touches what belongs to its parent."""

import os
import signal
import threading
import traceback

import pytest

from pools import pool_monitor
from tests.pools.echo import Echo, pooling
from tests.pools.live import LONG, resolving, started

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
FORKS = 200
SECONDS = 120


def in_child(check):
    """Run the check in a forked child; return True if it returned something true in time."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(SECONDS)  # a child that hangs is killed
        code = 1
        try:
            code = 0 if check() else 2
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


@pytest.fixture
def echo():
    with Echo() as server:
        yield server


def test_a_child_gets_a_socket_of_its_own(echo):
    with pooling(echo.port, spares=1, maximum=1) as pool:
        with pool.claim(timeout=LONG) as ours:
            name = ours.getsockname()

        def check():
            with pool.claim(timeout=LONG) as theirs:
                return theirs.getsockname() != name

        assert in_child(check)
        with pool.claim(timeout=LONG) as again:
            assert again is ours
            again.sendall(b"x")


def test_a_claim_of_the_parent_is_not_the_childs_to_release(echo):
    with pooling(echo.port, spares=1, maximum=1) as pool:
        claim = pool.claim(timeout=LONG)
        claim.wait()

        def check():
            claim.release()
            return claim.state == "revoked" and not pool.machine.slots.total

        assert in_child(check)
        claim.release()
        assert pool.get_stats()["idle_connections"] == 1


def test_a_child_that_uses_no_pool_opens_no_connection(echo):
    with pooling(echo.port) as pool:
        pool.wait_for_state("running", timeout=LONG)

        def check():
            return (pool.state, threading.active_count()) == ("starting", 1)

        assert in_child(check)


def test_the_snapshot_of_a_child(echo):
    with pooling(echo.port, domain="forked") as pool:
        pool.wait_for_state("running", timeout=LONG)
        assert in_child(
            lambda: any(
                shown["options"]["domain"] == "forked" and shown["state"] == "starting"
                for shown in pool_monitor.snapshot()["pool"].values()
            )
        )


def test_a_resolver_looks_again_in_the_child(dns_server):
    dns_server.set("svc.example", "A", ["10.0.0.1"])
    with resolving(dns_server) as resolver:
        started(resolver)
        asked = len(dns_server.queries)

        def check():
            known = resolver.list()
            passed = threading.Event()
            resolver.on("updated", lambda error: passed.set())
            resolver.resolve_now()
            return known and passed.wait(LONG / 1000)

        assert in_child(check)
        assert len(dns_server.queries) > asked


def test_an_agent_works_in_the_child(web, make_agent):
    agent = make_agent()
    assert agent.get(web.url()).status == 200
    assert in_child(lambda: agent.get(web.url()).data == b"hello")
    assert agent.get(web.url()).status == 200


def test_a_pool_that_is_stopped_stays_so(echo):
    with pooling(echo.port) as pool:
        pool.close()
        assert in_child(lambda: pool.state == "stopped")


def forks_in_the_middle_of_claims(echo, count):
    with pooling(echo.port, spares=2, maximum=4) as pool:
        pool.wait_for_state("running", timeout=LONG)
        over = threading.Event()

        def work():
            while not over.is_set():
                with pool.claim(timeout=LONG) as connection:
                    connection.sendall(b"x")

        def check():
            with pool.claim(timeout=LONG) as connection:
                connection.sendall(b"y")
            return pool_monitor.snapshot()["pool"]

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            return sum(in_child(check) for _ in range(count))
        finally:
            over.set()
            for thread in threads:
                thread.join()


def test_forks_in_the_middle_of_claims(echo):
    assert forks_in_the_middle_of_claims(echo, 8) == 8


@pytest.mark.soak
def test_two_hundred_forks_in_the_middle_of_claims(echo):
    assert forks_in_the_middle_of_claims(echo, FORKS) == FORKS
