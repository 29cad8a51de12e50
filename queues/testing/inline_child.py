"""A child that is no process: jobs run where they are given, with the messages of a child."""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from json import dumps, loads
from typing import Any

from atributo_site.core.text import written
from queues.children.child_process import Workhorse
from queues.execution.execution import Execution, TimedOut
from queues.execution.loader import LoadedService, Services
from queues.execution.output import Lines, Printed
from queues.execution.packages import leave
from queues.testing.faults import BEGIN, END, WorkerKilled, strike


class InlineExecution(Execution):
    """A run with points at which tests let it fail."""

    def _invoke(
        self, service: LoadedService, name: str, arguments: list[Any], *, awaited: bool = True
    ) -> Any:
        is_run = name == self.work["script"]
        if is_run:
            strike(self.work, BEGIN)
        returned = super()._invoke(service, name, arguments, awaited=awaited)
        if is_run:
            strike(self.work, END)
        return returned

    def emit(self, message: dict[str, Any]) -> None:
        texts = {"log": "text", "progress": "note"}
        text = str(message.get(texts.get(message["t"], ""), ""))
        super().emit(message)
        if text and not self.is_ending:
            strike(self.work, text)

    def _failed(self, error: BaseException) -> dict[str, Any]:
        if isinstance(error, WorkerKilled | KeyboardInterrupt):
            raise error  # nobody is left who could roll back or tell
        return super()._failed(error)


class InlineChild(Workhorse):
    """Runs one job at a time in this process; its start is recorded before it begins."""

    def __init__(self) -> None:
        self.memory_mb = 0
        self._messages: deque[dict[str, Any]] = deque()

    def start(self) -> None:
        """Do nothing: it is this process."""

    def give(self, jobs: list[dict[str, Any]], *_: Any) -> None:
        self._messages.clear()
        for work in jobs:
            run = InlineExecution(work, Services(), self._note)
            try:
                with _printing_to(run), _kept_environment(), _limited(work["timeout_ms"]):
                    ended = run.run()
            except TimedOut as error:  # it came a moment before or after the run
                ended = run.failed(error)
            finally:
                leave()
            run.tell_rest()
            run.fall_silent()
            self._note({**ended, "spent": ""})

    def receive(self, timeout: float) -> dict[str, Any] | None:
        return self._messages.popleft() if self._messages else None

    def revoke(self) -> int:
        return 0

    def has_message(self) -> bool:
        return True

    def takes_notes(self) -> bool:
        return False

    def interrupt(self) -> None:
        """It has ended already."""

    def kill(self) -> str:
        return "gone"

    def reap(self) -> str:
        return "gone"

    def close(self) -> None:
        """There is no process to end."""

    def last_lines(self) -> list[dict[str, Any]]:
        return []

    def is_over_memory_limit(self) -> bool:
        return False

    def _note(self, message: dict[str, Any]) -> None:
        self._messages.append(loads(dumps(message)))  # as it would arrive


@contextmanager
def _printing_to(run: Execution) -> Iterator[None]:
    """Let printed lines be lines of the run's log."""

    def emit(text: str, left_out: int) -> None:
        run.emit({"t": "log", "level": "print", "text": text, "left_out": left_out})

    printed = [Printed(Lines(emit, run.skip, run.is_full), number) for number in (1, 2)]
    with redirect_stdout(printed[0]), redirect_stderr(printed[1]):
        yield
    for each in printed:
        each.end()


@contextmanager
def _kept_environment() -> Iterator[None]:
    """Put back variables and the folder, as a child does after each job."""
    variables, folder, path = dict(os.environ), os.getcwd(), list(sys.path)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(folder)
        sys.path[:] = path


@contextmanager
def _limited(timeout_ms: int | None) -> Iterator[None]:
    """Raise TimedOut when the time is up; only the main thread can be interrupted."""
    if timeout_ms is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TimedOut(f"timed out after {written(timeout_ms)}")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, timeout_ms / 1000)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
