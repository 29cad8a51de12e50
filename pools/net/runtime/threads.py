"""The driver of the synchronous API: one thread for all resolvers and pools of the process.

Calls that may block run in other threads. What other threads hand to the driver goes through a
queue that needs no lock, because a finalizer may do so in the middle of any line.
"""

import heapq
import itertools
import logging
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from pools.net.runtime.driver import Done
from pools.net.runtime.fork import first_after_fork, keep
from pools.net.runtime.workers import Strand, Workers

log = logging.getLogger("pools")

LONGEST_SLEEP_MS = 60_000.0
Call = Callable[[], None]


class ThreadTimer:
    __slots__ = ("call",)

    def __init__(self, call: Call) -> None:
        self.call: Call | None = call

    def cancel(self) -> None:
        self.call = None


class ThreadDriver:
    """Start the thread, a daemon, with the first call."""

    def __init__(self) -> None:
        self.belongings: dict[type, Any] = {}
        self._selector = selectors.DefaultSelector()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._selector.register(self._wake_reader, selectors.EVENT_READ, {})
        self._calls: deque[Call] = deque()
        self._calls_of: dict[Any, dict[int, Call]] = {}
        self._timers: list[tuple[float, int, ThreadTimer]] = []
        self._serial = itertools.count()
        self._starts = itertools.count()
        self._is_awake = False
        self._thread: threading.Thread | None = None
        self._workers = Workers()
        self._strands: WeakKeyDictionary[Any, Strand] = WeakKeyDictionary()

    def now(self) -> float:
        return time.monotonic() * 1000.0

    def call_soon(self, call: Call) -> None:
        self._calls.append(call)
        self._wake()

    def call_at(self, at: float, call: Call) -> ThreadTimer:
        timer = ThreadTimer(call)
        if threading.current_thread() is self._thread:
            self._set_timer(at, timer)
        else:
            self.call_soon(partial(self._set_timer, at, timer))
        return timer

    def _set_timer(self, at: float, timer: ThreadTimer) -> None:
        heapq.heappush(self._timers, (at, next(self._serial), timer))

    def run(self, call: Callable[[], Any], done: Done) -> Callable[[], bool]:
        try:
            self._workers.submit(partial(_call, call, done))
        except RuntimeError as error:  # no more threads
            self.call_soon(partial(done, None, error))
        return lambda: False  # a thread cannot be ended

    def call_back(self, owner: Any, call: Call, culprit: Any) -> None:
        strand = self._strands.get(owner)
        if strand is None:
            strand = self._strands.setdefault(owner, Strand(self, self._workers.submit))
        strand.put(call, culprit)

    # -- sockets, on the driver's own thread ---------------------------------------------------

    def add_reader(self, source: Any, call: Call) -> None:
        self._set(source, selectors.EVENT_READ, call)

    def add_writer(self, source: Any, call: Call) -> None:
        self._set(source, selectors.EVENT_WRITE, call)

    def remove_reader(self, source: Any) -> None:
        self._unset(source, selectors.EVENT_READ)

    def remove_writer(self, source: Any) -> None:
        self._unset(source, selectors.EVENT_WRITE)

    def _set(self, source: Any, event: int, call: Call) -> None:
        calls = self._calls_of.setdefault(source, {})
        is_new = not calls
        calls[event] = call
        if is_new:
            self._selector.register(source, event, calls)
        else:
            self._selector.modify(source, sum(calls), calls)

    def _unset(self, source: Any, event: int) -> None:
        calls = self._calls_of.get(source, {})
        if calls.pop(event, None) is None:
            return
        if calls:
            self._selector.modify(source, sum(calls), calls)
        else:
            del self._calls_of[source]
            self._selector.unregister(source)

    # -- the thread ----------------------------------------------------------------------------

    def _wake(self) -> None:
        thread = self._thread
        if thread is None and next(self._starts) == 0:
            thread = threading.Thread(target=self._loop, name="pools-driver", daemon=True)
            self._thread = thread
            thread.start()
        if not self._is_awake and threading.current_thread() is not thread:
            self._is_awake = True
            try:
                self._wake_writer.send(b"x")
            except BlockingIOError:  # it has a thousand of them to read already
                return

    def _loop(self) -> None:
        while True:
            for key, events in self._selector.select(self._sleep_ms() / 1000.0):
                self._ready(key, events)
            self._run_timers()
            for _ in range(len(self._calls)):
                self._run(self._calls.popleft())

    def _sleep_ms(self) -> float:
        if self._calls:
            return 0.0
        if not self._timers:
            return LONGEST_SLEEP_MS
        return max(0.0, min(self._timers[0][0] - self.now(), LONGEST_SLEEP_MS))

    def _ready(self, key: selectors.SelectorKey, events: int) -> None:
        if key.fileobj is self._wake_reader:
            self._wake_reader.recv(4096)
            self._is_awake = False  # before the calls are made: later ones send a byte again
            return
        for event, call in list(key.data.items()):
            if event & events:
                self._run(call)

    def _run_timers(self) -> None:
        now = self.now()
        while self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            if timer.call is not None:
                self._run(timer.call)

    def _run(self, call: Call) -> None:
        try:
            call()
        except Exception:  # the driver has more calls to make
            log.exception("a call on the driver failed")


def _call(call: Callable[[], Any], done: Done) -> None:
    try:
        result = call()
    except Exception as error:  # passed to the caller
        done(None, error)
    else:
        done(result, None)


_driver: ThreadDriver | None = None
_driver_lock = threading.RLock()


def default_driver() -> ThreadDriver:
    """Return the one driver of this process."""
    global _driver
    with _driver_lock:
        if _driver is None:
            _driver = ThreadDriver()
        return _driver


def _forget_driver() -> None:
    """Drop the driver in a forked child, which has no such thread and makes its own."""
    global _driver, _driver_lock
    if _driver is not None:
        keep(_driver)
    _driver, _driver_lock = None, threading.RLock()


first_after_fork(_forget_driver)
