"""A claim with a callback is cancelled: nobody is called, and two never hold one connection."""

import threading
from contextlib import contextmanager

import pytest

from pools import ClaimCancelledError, ClaimError
from tests.pools.echo import Echo, pooling
from tests.pools.live import LONG

STORM = 500


@pytest.fixture
def one():
    """Return a pool with one idle connection."""
    with Echo() as echo, pooling(echo.port, spares=1, maximum=1) as pool:
        pool.wait_for_state("running", timeout=LONG)
        yield pool


@contextmanager
def driver_held(pool):
    """Hold the driver's calls back; at the end it makes all of them, and all callbacks."""
    held, go, over = threading.Event(), threading.Event(), threading.Event()
    pool.driver.call_soon(lambda: (held.set(), go.wait()))
    assert held.wait(LONG / 1000)
    try:
        yield
    finally:
        pool.driver.call_soon(lambda: pool.driver.call_back(pool, over.set, None))
        go.set()
        assert over.wait(LONG / 1000)


class Calls(list):
    def __call__(self, error, handle=None, connection=None):
        self.append((error, handle, connection))


@pytest.mark.parametrize("end", ["cancel", "release", "close"])
def test_a_claim_that_ended_before_its_callback_calls_nobody(one, end):
    calls = Calls()
    with driver_held(one):
        claim = one.claim(callback=calls)
        getattr(claim, end)()
    with one.claim(timeout=LONG):
        assert calls == []


def test_a_claim_that_was_refused_and_cancelled_calls_nobody():
    calls = Calls()
    with pooling() as pool, driver_held(pool):
        pool.claim(error_on_empty=True, callback=calls).cancel()
    assert calls == []


def test_a_claim_that_waited_and_was_cancelled_calls_nobody(one):
    calls = Calls()
    first = one.claim()
    with driver_held(one):
        second = one.claim(callback=calls)
        first.release()
        assert second.state == "claimed"
        second.cancel()
        assert one.get_stats()["idle_connections"] == 1
    assert calls == []


def test_a_callback_hears_that_its_connection_was_taken_away(one):
    calls = Calls()
    with driver_held(one):
        claim = one.claim(callback=calls)
        with one._lock:
            one.machine.revoke(claim._slot, "the lease is over", one.now())
        one.go_on()
    [(error, handle, connection)] = calls
    assert isinstance(error, ClaimError)
    assert (handle, connection) == (None, None)


def test_cancel_waits_for_a_callback_that_is_under_way(one):
    order = []

    def called(error, handle, connection):
        canceller.start()
        canceller.join(0.05)  # as long as a cancel() takes that waits for nobody
        order.append("called")

    canceller = threading.Thread(target=lambda: (claim.cancel(), order.append("cancelled")))
    with driver_held(one):
        claim = one.claim(callback=called)
    canceller.join()
    assert order == ["called", "cancelled"]


def test_what_a_callback_has_in_hand_is_never_lent_again(one):
    calls = Calls()
    with driver_held(one):
        claim = one.claim(callback=calls)
    claim.cancel()
    with one.claim(timeout=LONG) as connection:
        assert connection is not calls[0][2]
    claim.release()  # it was taken away, which is no misuse


def test_what_another_thread_has_in_hand_is_never_lent_again(one):
    claim = one.claim()
    taken = []
    thread = threading.Thread(target=lambda: taken.append(claim.wait()))
    thread.start()
    thread.join()
    claim.cancel()
    with one.claim(timeout=LONG) as connection:
        assert connection is not taken[0]


def test_a_claim_that_was_cancelled_before_its_owner_woke_has_no_connection(one):
    first = one.claim()
    second = one.claim()
    first.release()
    second.cancel()
    with pytest.raises(ClaimCancelledError):
        second.wait()
    assert one.get_stats()["idle_connections"] == 1


class Holders:
    """Track who has which connection; fail when two have one."""

    def __init__(self):
        self._lock = threading.Lock()
        self._held = {}
        self.shared = []

    def take(self, connection, who):
        with self._lock:
            if connection in self._held:
                self.shared.append((self._held[connection], who))
            self._held[connection] = who

    def give(self, connection):
        with self._lock:
            self._held.pop(connection)


def test_a_storm_of_cancelled_callbacks_never_shares_a_connection():
    holders, cancelled, late = Holders(), set(), []

    def callback_of(number):
        def called(error, handle, connection):
            if number in cancelled:
                late.append(number)
            holders.take(connection, f"callback {number}")
            holders.give(connection)
            handle.release()

        return called

    def cancelling(pool):
        for number in range(STORM):
            claim = pool.claim(callback=callback_of(number))
            claim.cancel()
            cancelled.add(number)
            with pool.claim(timeout=LONG) as connection:
                holders.take(connection, f"claim {number}")
                pool.get_stats()
                holders.give(connection)

    with Echo() as echo, pooling(echo.port, spares=1, maximum=2) as pool:
        pool.wait_for_state("running", timeout=LONG)
        cancelling(pool)
        with driver_held(pool):
            pass
    assert (holders.shared, late) == ([], [])
