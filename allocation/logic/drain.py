"""Decide how many jobs of a draining instance move now, and where they would go."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Move:
    """One job that would change, or has changed, its instance."""

    job_id: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Progress:
    """What a drain has done so far."""

    jobs_at_start: int
    moved: int
    remaining: int
    started_at: datetime
    deadline_at: datetime | None
    holding: int = 0  # running jobs and open claims

    @property
    def fraction(self) -> float:
        """Return 1.0 if nothing is left; jobs that were deallocated meanwhile count as done."""
        left = self.remaining + self.holding
        return 1.0 if left == 0 else max(0.0, 1.0 - left / max(self.jobs_at_start, left))

    def is_overdue(self, now: datetime) -> bool:
        return self.deadline_at is not None and now >= self.deadline_at and self.remaining > 0


def moves_due(progress: Progress, moves_per_minute: int | None, now: datetime, most: int) -> int:
    """Return how many jobs to move in this sweep: by pace until the deadline, then all."""
    if progress.is_overdue(now):
        return min(progress.remaining, most)
    if moves_per_minute is None:
        return 0
    elapsed_seconds = max(0.0, (now - progress.started_at).total_seconds())
    allowed = int(elapsed_seconds * moves_per_minute / 60) - progress.moved
    return max(0, min(allowed, progress.remaining, most))


def plan(placed: Iterable[tuple[str, str]], choose: Callable[[str], str | None]) -> list[Move]:
    """Return the moves if these jobs were placed anew, without the jobs that would stay."""
    moves = []
    for job_id, source in placed:
        target = choose(job_id)
        if target is not None and target != source:
            moves.append(Move(job_id, source, target))
    return moves


def replan(
    placed: Sequence[tuple[str, str]], choose: Callable[[str, str], str | None], most: int
) -> tuple[list[Move], int]:
    """Place jobs anew one after the other; return the moves and how many jobs were looked at."""
    moves: list[Move] = []
    for looked_at, (job_id, source) in enumerate(placed):
        if len(moves) >= most:
            return moves, looked_at
        target = choose(job_id, source)
        if target is not None and target != source:
            moves.append(Move(job_id, source, target))
    return moves, len(placed)


def arrivals(moves: Iterable[Move]) -> dict[str, int]:
    """Return how many jobs each instance would get, the busiest first."""
    return dict(Counter(move.target for move in moves).most_common())
