"""Pools with threads and real connections: claims."""

import threading

import pytest

from pools import (
    ClaimCancelledError,
    ClaimError,
    ClaimHandleMisusedError,
    ClaimTimeoutError,
    NoBackendsError,
    PoolStoppingError,
)
from tests.pools.echo import Echo, pooling
from tests.pools.live import LONG
from tests.servers.waiting import wait_until


@pytest.fixture
def echo():
    with Echo() as server:
        yield server


def test_claim_as_a_context_manager(echo):
    with pooling(echo.port) as pool:
        with pool.claim(timeout=LONG) as connection:
            assert connection.getpeername() == ("127.0.0.1", echo.port)
        stats = pool.get_stats()
        assert stats["counters"]["claim"] == 1
        assert pool.state == "running"


def test_an_exception_closes_the_connection(echo):
    with pooling(echo.port) as pool:
        with pytest.raises(KeyError), pool.claim(timeout=LONG) as connection:
            raise KeyError("mine")
        wait_until(lambda: connection.fileno() == -1)


def test_claim_sync_takes_only_what_is_idle(echo):
    with pooling(echo.port, spares=1, maximum=1) as pool:
        pool.wait_for_state("running", timeout=LONG)
        handle, connection = pool.claim_sync()
        assert connection.fileno() > 0
        with pytest.raises(NoBackendsError):
            pool.claim_sync()
        handle.release()


def test_claims_with_a_callback(echo):
    answers = []
    done = threading.Event()

    def called(error, handle=None, connection=None):
        answers.append((error, handle, connection, threading.current_thread().name))
        done.set()

    with pooling(echo.port) as pool:
        pool.wait_for_state("running", timeout=LONG)
        pool.claim(callback=called)
        assert done.wait(LONG / 1000)
        error, handle, connection, thread = answers[0]
        assert (error, thread) == (None, "pools-worker")
        assert handle.connection is connection
        handle.release()


def test_a_callback_gets_the_error():
    errors = []
    done = threading.Event()
    with pooling() as pool:
        pool.claim(error_on_empty=True, callback=lambda e: (errors.append(e), done.set()))
        assert done.wait(LONG / 1000)
        assert isinstance(errors[0], NoBackendsError)


def test_p1_errors_of_an_empty_pool():
    with pooling() as pool:
        with pytest.raises(NoBackendsError):
            pool.claim(error_on_empty=True)
        with pytest.raises(ClaimTimeoutError), pool.claim(timeout=10):
            raise AssertionError("no connection can have been claimed")
        assert pool.is_empty


def test_an_error_names_the_pool_that_people_know():
    with pooling() as pool:
        for claim in (lambda: pool.claim(timeout=1).wait(), pool.claim_sync):
            with pytest.raises(ClaimError) as caught:
                claim()
            assert caught.value.pool is pool


def test_a_claim_that_times_out_inside_another_is_no_fault_of_the_backend(echo):
    with pooling(echo.port, spares=1, maximum=1, outliers=None) as pool:
        for _ in range(6):
            with pytest.raises(ClaimTimeoutError), pool.claim(timeout=LONG):
                pool.claim(timeout=1).wait()
        assert "failed-state" not in pool.get_stats()["counters"]


@pytest.mark.parametrize("end", ["release", "close"])
def test_a_claim_that_is_over_has_no_connection(echo, end):
    with pooling(echo.port) as pool:
        claim = pool.claim(timeout=LONG)
        claim.wait()
        getattr(claim, end)()
        with pytest.raises(ClaimHandleMisusedError, match="has no connection"):
            claim.wait()


def test_p12_cancel(echo):
    with pooling(echo.port, spares=0, maximum=1) as pool:
        first = pool.claim()
        first.wait()
        second = pool.claim()
        second.cancel()
        with pytest.raises(ClaimCancelledError):
            second.wait()
        assert pool.get_stats()["waiter_count"] == 0
        first.cancel()
        assert pool.get_stats()["idle_connections"] == 1


def test_a_claim_cancelled_while_its_answer_is_on_the_way_is_given_back(echo):
    with pooling(echo.port, spares=0, maximum=1) as pool:
        first = pool.claim()
        first.wait()
        second = pool.claim()
        with pool._lock:
            pool.machine.release(first._slot, pool.now())
            second._cancel()
        pool.go_on()
        assert pool.get_stats()["idle_connections"] == 1
        with pytest.raises(ClaimCancelledError):
            second.wait()


def test_p11_a_storm_of_claims_never_exceeds_the_maximum(echo):
    served, most = [], []
    with pooling(echo.port, spares=2, maximum=5) as pool:

        def work(i):
            with pool.claim(timeout=LONG) as connection:
                served.append((i, connection.fileno()))
                most.append(pool.get_stats()["total_connections"])

        threads = [threading.Thread(target=work, args=(i,)) for i in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(served) == 100
        assert max(most) <= 5


def test_p19_stop_answers_everybody(echo):
    with pooling(echo.port, spares=0, maximum=1) as pool:
        held = pool.claim()
        held.wait()
        waiting = pool.claim()
        pool.stop()
        with pytest.raises(PoolStoppingError):
            waiting.wait()
        with pytest.raises(PoolStoppingError):
            pool.claim()
        assert pool.state == "stopping"
        held.release()
        assert pool.wait_for_state("stopped", timeout=LONG) == "stopped"


def test_p19_a_drain_deadline(echo):
    with pooling(echo.port, spares=0, maximum=1) as pool:
        held = pool.claim()
        connection = held.wait()
        pool.stop(drain=10)
        pool.wait_for_state("stopped", timeout=LONG)
        wait_until(lambda: connection.fileno() == -1)
        held.release()
        assert held.state == "revoked"


def test_a_handle_is_released_once(echo):
    with pooling(echo.port) as pool:
        claim = pool.claim(timeout=LONG)
        claim.wait()
        claim.release()
        for misuse in (claim.release, claim.close):
            with pytest.raises(ClaimHandleMisusedError, match="released"):
                misuse()


def test_a_handle_is_not_a_socket(echo):
    with pooling(echo.port) as pool:
        claim = pool.claim(timeout=LONG)
        claim.wait()
        with pytest.raises(ClaimHandleMisusedError):
            claim.recv(1)
        with pytest.raises(AttributeError):
            getattr(claim, "something")  # noqa: B009
        claim.release()
