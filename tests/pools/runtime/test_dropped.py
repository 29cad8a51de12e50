"""Pools that somebody forgets: closed by garbage collection, with a warning, and never stuck."""

import gc
import threading
import warnings
import weakref

import pytest

from pools import HttpAgent
from tests.pools.echo import RECOVERY, Echo, connect, pooling
from tests.pools.live import LONG
from tests.servers.waiting import wait_until

COLLECTIONS = 10_000


@pytest.fixture
def echo():
    with Echo() as server:
        yield server


def dropped(make):
    """Return what was warned about when nothing refers to the thing any more."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        reference = weakref.ref(make())
        wait_until(lambda: gc.collect() is not None and reference() is None)
    return [str(each.message) for each in told if each.category is ResourceWarning]


def make_pool(port):
    from pools import ConnectionPool, StaticIpResolver

    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": port}])
    resolver.start()
    options = {"resolver": resolver, "owns_resolver": True, "spares": 2, "maximum": 2}
    pool = ConnectionPool(constructor=connect, recovery=RECOVERY, domain="lost", **options)
    pool.wait_for_state("running", timeout=LONG)
    return pool


def test_a_pool_that_is_dropped_is_closed_and_told_of(echo):
    told = dropped(lambda: make_pool(echo.port))
    assert len(told) == 1
    assert "lost" in told[0] and f"{__file__}:" in told[0]
    wait_until(lambda: [peer.recv(1) for peer in list(echo.peers)] == [b""] * len(echo.peers))


def test_a_pool_with_a_claim_that_nobody_has_any_more_is_freed(echo):
    def make():
        pool = make_pool(echo.port)
        pool.claim(timeout=LONG).wait()
        return pool

    assert len(dropped(make)) == 1


def test_a_pool_that_is_stopped_is_freed_without_a_word(echo):
    def make():
        pool = make_pool(echo.port)
        pool.close()
        return pool

    assert dropped(make) == []


def test_an_agent_that_is_dropped_is_told_of_once(web):
    def make():
        agent = HttpAgent(spares=2)
        agent.get(web.url())
        return agent

    told = dropped(make)
    assert len(told) == 1
    assert "HttpAgent" in told[0]


class Returner:
    """An object of a user that returns its connection when it is collected, in a circle."""

    def __init__(self, claim):
        self.claim, self.me = claim, self

    def __del__(self):
        self.claim.release()


def collections_in_the_middle_of_steps(echo, count):
    """Collect garbage at every allocation, so that finalizers run inside the pool's own steps."""
    ended = 0
    with pooling(echo.port, spares=2, maximum=3) as pool:
        pool.wait_for_state("running", timeout=LONG)
        before = gc.get_threshold()
        gc.set_threshold(1, 1, 1)
        try:
            while ended < count:
                claim = pool.claim(timeout=LONG)
                claim.wait()
                Returner(claim)
                with pool.claim(timeout=LONG):
                    ended += 1
                pool.get_stats()
        finally:
            gc.set_threshold(*before)
        gc.collect()
        wait_until(lambda: pool.get_stats()["idle_connections"] >= 2)
        states = [slot.state for slot in pool.machine.slots.all()]
        assert states.count("idle") == len(pool.machine.idle)
    return ended


def test_garbage_is_collected_in_the_middle_of_a_step(echo):
    assert collections_in_the_middle_of_steps(echo, 300) == 300


@pytest.mark.soak
def test_garbage_is_collected_in_the_middle_of_ten_thousand_steps(echo):
    assert collections_in_the_middle_of_steps(echo, COLLECTIONS) == COLLECTIONS


def test_a_finalizer_that_releases_inside_a_step_is_served_after_it(echo):
    with pooling(echo.port, spares=1, maximum=1) as pool:
        claim = pool.claim(timeout=LONG)
        claim.wait()
        with pool._lock:  # as if this thread were in the middle of a step
            claim.close()
            assert claim.state == "claimed"
        with pool.claim(timeout=LONG) as connection:
            assert connection.fileno() > 0
        assert claim.state == "closed"


def test_the_driver_takes_calls_from_a_finalizer_inside_any_of_its_lines(echo):
    """Neither the driver nor its workers have a lock that such a call could wait for."""
    with pooling(echo.port) as pool:
        driver = pool.driver
        locks = (type(threading.Lock()), type(threading.RLock()))
        for part in (driver, driver._workers):
            assert not [name for name, value in vars(part).items() if isinstance(value, locks)]
