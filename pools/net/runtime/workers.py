"""Threads for calls that may block: they come when needed and go when idle. A strand orders calls.

No worker takes a lock: garbage collection may run a finalizer in the middle of any line, and a
finalizer that submits a call must not wait for the thread that it interrupted.
"""

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

log = logging.getLogger("pools")

IDLE_SECONDS = 10.0
STUCK_MS = 1000.0
Call = Callable[[], None]


class Workers:
    """Unlike those of a ThreadPoolExecutor, the threads never delay the program's end.

    There is no limit for all together, so that calls which hang delay nobody else. The callers
    have limits of their own: a pool has its maximum, a backend its hanging attempts.
    """

    def __init__(self) -> None:
        self._idle: deque[Worker] = deque()

    def submit(self, call: Call) -> None:
        """Raise RuntimeError if the system gives no more threads."""
        try:
            worker = self._idle.pop()
        except IndexError:
            Worker(self._idle, call)
        else:
            worker.calls.put(call)


class Worker:
    def __init__(self, idle: "deque[Worker]", first: Call) -> None:
        self.calls: queue.SimpleQueue[Call] = queue.SimpleQueue()
        self._idle = idle
        self.calls.put(first)
        threading.Thread(target=self._work, name="pools-worker", daemon=True).start()

    def _work(self) -> None:
        while (call := self._next()) is not None:
            try:
                call()
            except Exception:  # the thread has more calls to make
                log.exception("a call in the background failed")
            del call  # or an idle thread would keep alive what it worked for
            self._idle.append(self)

    def _next(self) -> Call | None:
        try:
            return self.calls.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            return self._leave()

    def _leave(self) -> Call | None:
        """End this thread, unless somebody took it at the very last moment."""
        try:
            self._idle.remove(self)
        except (ValueError, IndexError):
            return self.calls.get()
        return None


class Clock(Protocol):
    def now(self) -> float: ...

    def call_at(self, at: float, call: Call) -> Any: ...


class Strand:
    """Run the callbacks of a user one after the other, where they cannot stop the driver.

    One that blocks is reported, and the others go on without it.
    """

    def __init__(self, clock: Clock, submit: Callable[[Call], None]) -> None:
        self._clock = clock
        self._submit = submit
        self._lock = threading.RLock()  # a finalizer may emit, anywhere
        self._calls: deque[tuple[Call, Any]] = deque()
        self._turn = 0  # which thread has the strand
        self._is_running = self._is_watched = False
        self._running: tuple[float, Any] | None = None

    def put(self, call: Call, culprit: Any) -> None:
        """Run a call after those before it; `culprit` is named if it blocks."""
        with self._lock:
            self._calls.append((call, culprit))
            if self._is_running:
                return
            self._is_running = True
        self._begin_turn()

    def _begin_turn(self) -> None:
        self._turn += 1
        turn = self._turn
        self._submit(lambda: self._work(turn))

    def _work(self, turn: int) -> None:
        while (call := self._next(turn)) is not None:
            try:
                call()
            except Exception:  # the others must hear, too
                log.exception("a callback failed")

    def _next(self, turn: int) -> Call | None:
        with self._lock:
            if turn != self._turn:  # it blocked, and another thread went on
                return None
            self._is_running = bool(self._calls)
            if not self._calls:
                self._running = None
                return None
            self._is_running = True  # also if a call came between the two lines before
            call, culprit = self._calls.popleft()
            self._running = running = (time.monotonic() * 1000.0, culprit)
            is_watched, self._is_watched = self._is_watched, True
        if not is_watched:
            self._look_later(running)
        return call

    def _look_later(self, running: tuple[float, Any]) -> None:
        self._clock.call_at(self._clock.now() + STUCK_MS, lambda: self._look(running))

    def _look(self, seen: tuple[float, Any]) -> None:
        """Look once in a while, on the driver, whether the strand still runs the same call."""
        with self._lock:
            running = self._running
            self._is_watched = running is not None and running is not seen
        if running is seen:
            self._go_on_without(running)
        elif running is not None:
            self._look_later(running)

    def _go_on_without(self, running: tuple[float, Any]) -> None:
        log.warning(
            "a callback has blocked for %d ms, and the others go on without it: %r",
            time.monotonic() * 1000.0 - running[0],
            running[1],
        )
        with self._lock:
            if self._running is not running:  # it came back at the last moment
                return
            self._running = None
            self._turn += 1  # the blocked thread has lost the strand
            self._is_running = bool(self._calls)
            if not self._is_running:
                return
        self._begin_turn()
