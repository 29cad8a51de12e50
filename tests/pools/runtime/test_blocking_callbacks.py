"""Listeners and callbacks that block stop nobody's clock."""

import logging
import threading
from contextlib import ExitStack

import pytest

from pools import StaticIpResolver
from pools.net.runtime.workers import Strand
from tests.pools.echo import Echo, pooling
from tests.pools.live import LONG


def test_a_listener_that_blocks_delays_no_pool():
    gate, blocked = threading.Event(), threading.Event()
    with Echo() as echo, pooling(echo.port) as first:
        first.on("state", lambda state: (blocked.set(), gate.wait()))
        first.wait_for_state("running", timeout=LONG)
        first.driver.call_soon(lambda: first.emit("state", "running"))
        assert blocked.wait(LONG / 1000)
        with pooling(echo.port) as second, second.claim(timeout=LONG), first.claim(timeout=LONG):
            gate.set()


def test_a_callback_of_a_claim_that_blocks_delays_no_pool():
    gate, blocked = threading.Event(), threading.Event()
    with Echo() as echo, pooling(echo.port, spares=2) as pool:
        pool.claim(callback=lambda *answer: (blocked.set(), gate.wait()))
        assert blocked.wait(LONG / 1000)
        with pool.claim(timeout=LONG):
            gate.set()


@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.soak)])
def test_many_callbacks_that_block_for_ever_delay_nobody(count):
    """Each is of a pool of its own; the others claim, connect and are told as if nothing were."""
    gate, blocked = threading.Event(), threading.Semaphore(0)

    def hang(*answer):
        blocked.release()
        gate.wait()

    with Echo() as echo, ExitStack() as stack:
        stack.callback(gate.set)
        for _ in range(count):
            stack.enter_context(pooling(echo.port, spares=1)).claim(callback=hang)
        for _ in range(count):
            assert blocked.acquire(timeout=LONG / 1000)
        told = threading.Event()
        with pooling(echo.port, spares=1) as pool:
            pool.claim(callback=lambda error, handle, connection: (handle.release(), told.set()))
            assert told.wait(LONG / 1000)
            for _ in range(10 * count):
                with pool.claim(timeout=LONG):
                    assert not gate.is_set()


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.at, self.calls = 0.0, []

    def now(self):
        return self.at

    def call_at(self, at, call):
        self.calls.append(call)

    def look(self):
        calls, self.calls = self.calls, []
        for call in calls:
            call()


def test_the_others_go_on_without_a_callback_that_blocks(caplog):
    clock, gate, begun, done = Clock(), threading.Event(), threading.Event(), threading.Event()
    strand = Strand(clock, lambda call: threading.Thread(target=call, daemon=True).start())

    def culprit():
        begun.set()
        gate.wait()

    strand.put(culprit, culprit)
    strand.put(done.set, None)
    assert begun.wait(LONG / 1000)
    with caplog.at_level(logging.WARNING, "pools"):
        clock.look()
    assert done.wait(LONG / 1000)
    gate.set()
    assert "culprit" in caplog.text


def test_callbacks_keep_their_order():
    clock, heard, done = Clock(), [], threading.Event()
    strand = Strand(clock, lambda call: threading.Thread(target=call, daemon=True).start())
    for i in range(200):
        strand.put(lambda i=i: heard.append(i), None)
    strand.put(done.set, None)
    assert done.wait(LONG / 1000)
    assert heard == list(range(200))


def test_a_listener_that_fails_does_not_silence_the_others():
    heard = threading.Event()
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": 9}])
    resolver.on("state", lambda state: 1 / 0)
    resolver.on("state", lambda state: heard.set())
    resolver.start()
    assert heard.wait(LONG / 1000)
    resolver.stop()
