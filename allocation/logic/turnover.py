"""What some moves make of each instance, and of the spread over those that take jobs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from allocation.logic.drain import Move
from allocation.logic.what_if import Forecast, Load, spread


@dataclass(frozen=True, slots=True)
class Turnover:
    """Jobs that come to one instance and leave it."""

    instance_id: str
    before: int
    come: int
    leave: int

    @property
    def after(self) -> int:
        return self.before + self.come - self.leave


def turnovers(jobs: Mapping[str, int], moves: Sequence[Move]) -> list[Turnover]:
    """Of each instance that some move touches, the busiest first."""
    come = Counter(move.target for move in moves)
    leave = Counter(move.source for move in moves)
    busiest = sorted(come | leave, key=lambda name: (-come[name] - leave[name], name))
    return [Turnover(name, jobs.get(name, 0), come[name], leave[name]) for name in busiest]


def forecast(takers: Sequence[Load], moves: Sequence[Move]) -> Forecast:
    """Those that take no jobs lose theirs, and are not part of the spread."""
    gained = Counter(move.target for move in moves)
    gained.subtract(move.source for move in moves)
    after = [_with(load, gained.get(load.instance_id, 0)) for load in takers]
    return Forecast(spread(takers), spread(after), len(moves))


def _with(load: Load, jobs: int) -> Load:
    return replace(load, jobs=load.jobs + jobs) if jobs else load
