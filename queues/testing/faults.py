"""Make runs fail, time out or die at a chosen point.

A point is `BEGIN` (before the first line), `END` (it has returned, and nothing is recorded yet), or
a text: when the run logs, prints or reports progress with it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from atributo_site.core.text import written
from queues.execution.execution import TimedOut
from queues.functions.declaration import bare

BEGIN, END = "begin", "end"


class WorkerKilled(BaseException):
    """The worker is gone at this point; nothing after it happens."""


@dataclass
class Fault:
    place: tuple[str, str]  # mount and name
    at: str
    error: Callable[[int | None], BaseException]
    times: int = 1
    count: int = 0  # how often it has happened

    def happens(self, place: tuple[str, str], point: str) -> bool:
        is_here = point == self.at if self.at in (BEGIN, END) else self.at in point
        return self.place == place and is_here and self.count < self.times


_faults: list[Fault] = []


def strike(work: dict[str, Any], point: str) -> None:
    """Raise what is planned for this point of a run."""
    place = (work["mount"], work["script"])
    for fault in _faults:
        if fault.happens(place, point):
            fault.count += 1
            raise fault.error(work.get("timeout_ms"))


@contextmanager
def fail(
    script: Any, error: BaseException | None = None, *, at: str = BEGIN, times: int = 1
) -> Iterator[Fault]:
    """Raise an error in the next runs of a script or function, at a point."""
    raised = error or RuntimeError("a test made this run fail")
    with _planned(Fault(place_of(script), at, lambda _: raised, times)) as fault:
        yield fault


@contextmanager
def time_out(script: Any, *, at: str = BEGIN, times: int = 1) -> Iterator[Fault]:
    """Let the time of the next runs be up at a point."""

    def error(timeout_ms: int | None) -> BaseException:
        return TimedOut(f"timed out after {written(timeout_ms or 0)}")

    with _planned(Fault(place_of(script), at, error, times)) as fault:
        yield fault


@contextmanager
def kill(script: Any, *, at: str = BEGIN, times: int = 1) -> Iterator[Fault]:
    """Let the worker die at a point of the next runs; each is recovered as a curator does it."""
    with _planned(Fault(place_of(script), at, lambda _: WorkerKilled(), times)) as fault:
        yield fault


@contextmanager
def _planned(fault: Fault) -> Iterator[Fault]:
    _faults.append(fault)
    try:
        yield fault
    finally:
        _faults.remove(fault)


def place_of(script: Any) -> tuple[str, str]:
    """Return mount and name of a script, or module and name of a function."""
    if isinstance(script, dict):
        return script["mount"], script["name"]
    function = bare(script)
    return function.__module__, function.__name__
