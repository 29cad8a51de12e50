"""Claims survive races between two threads."""

import signal
import threading

import pytest

from pools import ClaimError, StaticIpResolver
from tests.pools.echo import Echo, pooling
from tests.servers.waiting import wait_until


class TimeIsUp(Exception):
    pass


@pytest.fixture
def echo():
    with Echo() as server:
        yield server


@pytest.fixture
def one(echo):
    """Return a pool with one connection, which is lent out, and the claim that has it."""
    with pooling(echo.port, spares=0, maximum=1) as pool:
        first = pool.claim()
        first.wait()
        yield pool, first


@pytest.fixture
def alarm():
    def ring(*_):
        raise TimeIsUp

    before = signal.signal(signal.SIGUSR1, ring)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_a_claim_that_is_interrupted_leaves_the_queue(one, alarm):
    pool, first = one
    second = pool.claim()

    def interrupt():
        wait_until(lambda: second._signal is not None)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(TimeIsUp), second:
        raise AssertionError("the only connection is lent out")
    thread.join()
    first.release()
    assert pool.get_stats()["idle_connections"] == 1


def test_a_claim_that_loses_its_connection_before_it_knows_is_told(one):
    pool, first = one
    second = pool.claim()
    with pool._lock:
        pool.machine.release(first._slot, pool.now())
        grant = pool.machine.take()[0]
        pool.machine.revoke(grant.slot, "the pool is stopping", pool.now())
        revoke, *others = pool.machine.take()
    for action in (revoke, grant, *others):  # the thread with the answer is late
        pool._do(action)
    assert second.state == "failed"
    with pytest.raises(ClaimError, match="taken away"):
        second.wait()


class Emptying(StaticIpResolver):
    """Remove its backends while a pool reads the list of them."""

    def list(self):
        known = super().list()
        self.leaving = threading.Thread(target=self._leave, args=(known,))
        self.leaving.start()
        self.leaving.join(0.05)  # or until the pool is ready to receive it
        return known

    def _leave(self, known):
        for key in known:
            self.emit("removed", key)


def test_a_backend_that_leaves_while_a_pool_is_made_is_not_kept(echo):
    resolver = Emptying([{"address": "127.0.0.1", "port": echo.port}])
    resolver.start()
    resolver.wait_for_state("running")
    with pooling(resolver=resolver) as pool:
        resolver.leaving.join()
        assert pool.is_empty
    resolver.stop()
