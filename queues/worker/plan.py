"""What a worker is to do: which queues, how many jobs at once, and when it has done enough."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from queues.logic.queue_choice import QueueChoice

MOST_CHILDREN = 256


@dataclass(frozen=True)
class WorkPlan:
    choice: QueueChoice = field(default_factory=QueueChoice)
    concurrency: int = 1  # children, each of which runs jobs
    burst: bool = False  # stop when no job is left
    max_jobs: int | None = None
    max_age_seconds: float | None = None


class Allowance:
    """How many jobs the worker may still take; whoever reserves some says for which lane."""

    def __init__(self, plan: WorkPlan, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._plan = plan
        self._monotonic = monotonic
        self._begun = monotonic()
        self._ended = 0
        self._reserved: dict[object, int] = {}

    @property
    def is_used_up(self) -> bool:
        """Whether no further job may begin, now or later."""
        age = self._plan.max_age_seconds
        is_old = age is not None and self._monotonic() - self._begun >= age
        return is_old or (self._plan.max_jobs is not None and self._ended >= self._plan.max_jobs)

    def granted(self, lane: object, count: int) -> int:
        """Return how many of `count` jobs the lane may reserve."""
        self._reserved.pop(lane, None)
        if self.is_used_up:
            return 0
        return min(count, self._left())

    def has_room(self) -> bool:
        """Return whether another lane may reserve a job now."""
        return not self.is_used_up and self._left() > 0

    def _left(self) -> int:
        if self._plan.max_jobs is None:
            return sys.maxsize
        return max(0, self._plan.max_jobs - self._ended - sum(self._reserved.values()))

    def granted_beside(self, lane: object, count: int, running: int) -> int:
        """Return how many of `count` may begin in a lane in which so many run already."""
        self._reserved[lane] = running
        return 0 if self.is_used_up else min(count, self._left())

    def note_reserved(self, lane: object, count: int) -> None:
        self._reserved[lane] = count

    def note_ended(self, lane: object, count: int) -> None:
        self._ended += count
        if lane in self._reserved:
            self._reserved[lane] -= count

    def leave(self, lane: object) -> None:
        self._reserved.pop(lane, None)
