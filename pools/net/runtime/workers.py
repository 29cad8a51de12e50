"""Threads for calls that may block; they come when needed and go when idle.

Nothing here takes a lock: garbage collection may run a finalizer in the middle of any line, and a
finalizer that submits a call must not wait for the thread that it interrupted.
"""

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable

log = logging.getLogger("pools")

IDLE_SECONDS = 10.0
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
