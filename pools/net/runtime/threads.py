"""The driver of the synchronous API: one thread for all resolvers and pools of the process.

Calls that may block run in daemon threads, which come when needed and go when idle.
"""

import heapq
import itertools
import logging
import os
import queue
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from pools.net.runtime.driver import Done

log = logging.getLogger("pools")

IDLE_SECONDS = 10.0
LONGEST_SLEEP_MS = 60_000.0
Call = Callable[[], None]


class Workers:
    """Run calls in threads that, unlike a ThreadPoolExecutor's, never delay the program's end."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0
        self._backlog = 0

    def submit(self, call: Callable[[], None]) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
            elif self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._work, name="pools-worker", daemon=True).start()
            else:
                self._backlog += 1
        self._calls.put(call)

    def _work(self) -> None:
        while (call := self._next()) is not None:
            try:
                call()
            except Exception:  # the thread has more calls to make
                log.exception("a call in the background failed")
            with self._lock:
                if self._backlog:
                    self._backlog -= 1
                else:
                    self._free += 1

    def _next(self) -> Callable[[], None] | None:
        try:
            return self._calls.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            return self._leave()

    def _leave(self) -> Callable[[], None] | None:
        """End this thread, unless a call was given to it at the very last moment."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
                self._threads -= 1
                return None
        return self._calls.get()


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
        self._lock = threading.Lock()
        self._is_awake = False
        self._thread: threading.Thread | None = None
        self._workers = Workers()

    def now(self) -> float:
        return time.monotonic() * 1000.0

    def call_soon(self, call: Call) -> None:
        self._calls.append(call)
        self._wake()

    def call_at(self, at: float, call: Call) -> ThreadTimer:
        timer = ThreadTimer(call)
        with self._lock:
            heapq.heappush(self._timers, (at, next(self._serial), timer))
            is_first = self._timers[0][2] is timer
        if is_first:
            self._wake()
        return timer

    def run(self, call: Callable[[], Any], done: Done) -> Callable[[], bool]:
        self._workers.submit(lambda: _call(call, done))
        return lambda: False  # a thread cannot be ended

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
        if threading.current_thread() is self._thread:
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="pools-driver", daemon=True)
                self._thread.start()
            if self._is_awake:
                return
            self._is_awake = True
        self._wake_writer.send(b"x")

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
        with self._lock:
            if not self._timers:
                return LONGEST_SLEEP_MS
            return max(0.0, min(self._timers[0][0] - self.now(), LONGEST_SLEEP_MS))

    def _ready(self, key: selectors.SelectorKey, events: int) -> None:
        if key.fileobj is self._wake_reader:
            self._wake_reader.recv(4096)
            with self._lock:  # only now: a byte sent before would be read with the others
                self._is_awake = False
            return
        for event, call in list(key.data.items()):
            if event & events:
                self._run(call)

    def _run_timers(self) -> None:
        now = self.now()
        while True:
            with self._lock:
                if not self._timers or self._timers[0][0] > now:
                    return
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
_driver_lock = threading.Lock()


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
    _driver, _driver_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_driver)
