"""The parent's side of a shared process: jobs begin and end in it one by one, many at once."""

import time
from typing import Any

from queues.children.child_process import Workhorse
from queues.children.messages import Nonsense, understood
from queues.children.protocol import ChildGone, LineTooLong

NOT_AMONG_MANY = {"stopped", "hello"}


class SharedProcess(Workhorse):
    """At most one living child, which runs up to `threads` jobs at the same time."""

    def __init__(self, memory_mb: int, threads: int) -> None:
        super().__init__(memory_mb)
        self._threads = threads
        self._known: set[int] = set()  # numbers of jobs that run
        self._next = 1
        self.ready_at: float | None = None  # since when it runs jobs

    def begin(self, works: list[dict[str, Any]]) -> list[int]:
        """Hand over jobs; return the numbers by which messages name them.

        ChildGone when the process is dead; a new one is started when no job runs.
        """
        if self._wire is None or (self._has_ended() and not self._known):
            self.kill()
            self._start()
            self._say({"shared": self._threads})
        numbers = [self._next + place for place in range(len(works))]
        self._next += len(works)
        self._known.update(numbers)
        self._say({"jobs": list(zip(numbers, works, strict=True))})
        return numbers

    def stop(self, number: int) -> None:
        """Ask one job to stop: TimedOut is raised inside it."""
        self._say({"stop": number})

    def receive(self, timeout: float) -> dict[str, Any] | None:
        """Return the next message about any job; ChildGone when the process died."""
        give_up = time.monotonic() + timeout
        try:
            while True:
                message = self._line(max(0.0, give_up - time.monotonic()))
                if message is None or message["t"] not in NOT_AMONG_MANY:
                    return message
                if message["t"] == "hello" and not self._pid:
                    self._pid, self.ready_at = message["pid"], time.monotonic()
                    self._fresh_bytes = self._resident()
        except (Nonsense, LineTooLong) as error:
            self._fault = f"ended because it sent an invalid message: {error}"
            raise ChildGone from error

    def reap(self) -> str:
        self._known.clear()
        self.ready_at = None
        return super().reap()

    def _line(self, timeout: float) -> dict[str, Any] | None:
        if self._wire is None:
            raise ChildGone
        line = self._wire.receive(timeout)
        if line is None and self._has_ended():
            line = self._wire.receive(0.0)
            if line is None:
                raise ChildGone
        if line is None:
            return None
        message = understood(line)
        if message["t"] != "hello" and message["job"] not in self._known:
            raise Nonsense(f"about job {message['job']}, which does not run")
        if message["t"] == "done":
            self._known.discard(message["job"])
        return message

    def _say(self, message: dict[str, Any]) -> None:
        if self._wire is None:
            raise ChildGone
        self._wire.send_and_read(message)
