"""What a run waits for: the next message of its child, so that one worker can follow many runs.

The steps of a run are generators. Where one would wait it yields a `Wait`, and gets the message,
None after the time-out, or ChildGone.
"""

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

from queues.children.child_process import Workhorse
from queues.children.protocol import ChildGone

Message = dict[str, Any] | None
T = TypeVar("T")


class Wait(NamedTuple):
    workhorse: Workhorse
    seconds: float


Steps = Generator[Wait, Message, T]


def followed(steps: Steps[T]) -> T:
    """Go through all steps, and wait for this one child alone."""
    try:
        wait = next(steps)
        while True:
            wait = _after(steps, wait)
    except StopIteration as end:
        return end.value


def _after(steps: Steps[T], wait: Wait) -> Wait:
    try:
        message = wait.workhorse.receive(wait.seconds)
    except ChildGone as gone:
        return steps.throw(gone)
    return steps.send(message)
