"""Daemon threads for calls that may block; they come when needed and go when idle."""

import logging
import queue
import threading
from collections.abc import Callable

log = logging.getLogger("pools")

IDLE_SECONDS = 10.0


class Workers:
    """Unlike a ThreadPoolExecutor it never holds up the end of the program."""

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
        """Go, unless somebody counted on this thread in the very last moment."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
                self._threads -= 1
                return None
        return self._calls.get()
