"""The lanes of a worker: in each of them one child runs jobs, and one thread follows them all."""

import time
from collections.abc import Sequence
from select import select
from typing import Any

from django.db import Error as DatabaseError

from atributo_site.core.errors import DatabaseBusy
from queues.children.child_process import Workhorse
from queues.children.protocol import ChildGone
from queues.children.shared_process import SharedProcess
from queues.children.waits import Steps

LONGEST_WAIT_SECONDS = 1.0
FAILURES = (DatabaseError, DatabaseBusy)


class Lane:
    """A child, and the steps of what runs in it."""

    def __init__(self, workhorse: Workhorse) -> None:
        self.workhorse = workhorse
        self._steps: Steps[None] | None = None
        self.current = workhorse  # the child that the steps wait for
        self._shared: SharedProcess | None = None
        self._shared_for = ("", 0)
        self.until = 0.0  # when the steps go on though no message has come

    @property
    def is_free(self) -> bool:
        return self._steps is None

    def begin(self, steps: Steps[None]) -> None:
        self._steps = steps
        self._go_on(lambda: next(steps))

    def shared_process(self, mount: str, threads: int) -> SharedProcess:
        """Return a process for many jobs of this service; the last one stays warm for it."""
        if self._shared is not None and self._shared_for != (mount, threads):
            self._shared.close()
            self._shared = None
        if self._shared is None:
            self._shared = SharedProcess(self.workhorse.memory_mb, threads)
            self._shared_for = (mount, threads)
        return self._shared

    def is_warm_for(self, mount: str, threads: int) -> bool:
        return self._shared is not None and self._shared_for == (mount, threads)

    def kill(self) -> None:
        self.workhorse.kill()
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def advance(self) -> None:
        """Go on with what waits for a message that has come, or waits no longer."""
        for _ in range(1000):  # then it is another lane's turn
            if self._steps is None or not self._is_ready():
                return
            self._hear(self._steps)

    def _is_ready(self) -> bool:
        return self.current.has_message() or self._is_readable() or self._is_over()

    def _is_readable(self) -> bool:
        number = self.current.fileno()
        return number >= 0 and bool(select([number], [], [], 0)[0])

    def _is_over(self) -> bool:
        return time.monotonic() >= self.until

    def _hear(self, steps: Steps[None]) -> None:
        try:
            message = self.current.receive(0.0)
        except ChildGone as gone:
            error = gone
            self._go_on(lambda: steps.throw(error))
            return
        if message is not None or self._is_over():
            self._go_on(lambda: steps.send(message))

    def _go_on(self, step: Any) -> None:
        try:
            wait = step()
        except StopIteration:
            self._steps = None
        except BaseException as error:
            self._steps = None
            if isinstance(error, FAILURES):  # nobody follows it any more
                self.workhorse.kill()
            raise
        else:
            self.current, self.until = wait.workhorse, time.monotonic() + wait.seconds


class Lanes:
    """As many for jobs that run alone as for processes that run many."""

    def __init__(self, count: int, memory_mb: int) -> None:
        self.alone = [Lane(Workhorse(memory_mb)) for _ in range(count)]
        self.shared = [Lane(Workhorse(memory_mb)) for _ in range(count)]
        self.all = [*self.alone, *self.shared]
        self._has_begun = False

    def free(self) -> Lane | None:
        """Return a lane for the next job, rather one whose child is warm."""
        return next((lane for lane in self.alone if lane.is_free), None)

    def begin(self, lane: Lane, steps: Steps[None]) -> None:
        """Begin in one of them; before the first job that runs alone all such children start.

        Forked together, they share the same copy of every page that we write to later.
        """
        if lane in self.alone and not self._has_begun:
            self._has_begun = True
            for each in self.alone:
                each.workhorse.start()
        lane.begin(steps)

    def free_for(self, mount: str, threads: int) -> Lane | None:
        """Return a lane for many jobs of this service, rather one with a process for it."""
        free = [lane for lane in self.shared if lane.is_free]
        warm = [lane for lane in free if lane.is_warm_for(mount, threads)]
        return next(iter([*warm, *free]), None)

    def busy(self) -> list[Lane]:
        return [lane for lane in self.all if not lane.is_free]

    def advance(self) -> None:
        """Go on with all of them; an error of one lane is raised when all others have gone on."""
        failed: list[Exception] = []
        for lane in self.busy():
            try:
                lane.advance()
            except FAILURES as error:
                failed.append(error)
        if failed:
            raise failed[0]

    def wait(self, others: Sequence[int], seconds: float = LONGEST_WAIT_SECONDS) -> None:
        """Wait until a child says something, a lane's time is over or others can be read."""
        busy = self.busy()
        if any(lane.current.has_message() for lane in busy):
            return
        left = min([lane.until for lane in busy], default=float("inf")) - time.monotonic()
        numbers = [lane.current.fileno() for lane in busy]
        readable = [number for number in (*numbers, *others) if number >= 0]
        select(readable, [], [], max(0.0, min(left, seconds)))

    def close(self) -> None:
        for lane in self.all:
            lane.kill()
            lane.workhorse.close()

    def kill(self) -> None:
        for lane in self.all:
            lane.kill()
