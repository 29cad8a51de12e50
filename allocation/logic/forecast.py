"""Forecast the loads if instances came or went, or if some jobs moved. Nothing is changed."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from allocation.logic.drain import Move

STEPS = 60  # halvings until the level is as exact as a float


@dataclass(frozen=True, slots=True)
class Load:
    instance_id: str
    jobs: float
    weight: float = 1.0
    capacity: int | None = None

    @property
    def room(self) -> float:
        return float("inf") if self.capacity is None else max(0.0, self.capacity - self.jobs)


@dataclass(frozen=True, slots=True)
class Spread:
    """Jobs for each unit of weight: the least, the mean and the most loaded instance."""

    instances: int
    jobs: int
    least: float
    mean: float
    most: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """`moved` jobs change their instance; `nowhere` of them find no room."""

    before: Spread
    after: Spread
    moved: int
    nowhere: int = 0


def spread(loads: Sequence[Load]) -> Spread:
    if not loads:
        return Spread(0, 0, 0.0, 0.0, 0.0)
    shares = [load.jobs / load.weight for load in loads]
    total = sum(load.jobs for load in loads)
    mean = total / sum(load.weight for load in loads)
    return Spread(len(loads), round(total), min(shares), mean, max(shares))


def removed(loads: Sequence[Load], ids: Collection[str]) -> Forecast:
    """Forecast that instances leave: their jobs go where the load is least."""
    stay = [load for load in loads if load.instance_id not in ids]
    moved = sum(load.jobs for load in loads if load.instance_id in ids)
    placed = min(moved, sum(load.room for load in stay))
    after = _filled(stay, placed)
    return Forecast(spread(loads), spread(after), round(moved), round(moved - placed))


def added(loads: Sequence[Load], count: int) -> Forecast:
    """Forecast new, empty instances; `moved` is what a rebalance would bring them."""
    total, weight = sum(load.jobs for load in loads), sum(load.weight for load in loads)
    mean = total / (weight + count) if count or weight else 0.0
    moved = sum(max(0.0, load.jobs - mean * load.weight) for load in loads)
    even = [replace(load, jobs=mean * load.weight) for load in loads]
    new = [Load(f"new-{number}", mean) for number in range(count)]
    return Forecast(spread(loads), spread([*even, *new]), round(moved) if count else 0)


def _filled(loads: Sequence[Load], jobs: float) -> list[Load]:
    """Add the jobs so that all loads rise to one level, but none above its room."""
    if not loads or jobs <= 0:
        return list(loads)
    low, high = 0.0, max(load.jobs / load.weight for load in loads) + jobs
    for _ in range(STEPS):
        level = (low + high) / 2
        if sum(_rise(load, level) for load in loads) < jobs:
            low = level
        else:
            high = level
    return [replace(load, jobs=load.jobs + _rise(load, high)) for load in loads]


def _rise(load: Load, level: float) -> float:
    return min(load.room, max(0.0, level * load.weight - load.jobs))


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
    """Return the turnover of each instance that a move touches, the busiest first."""
    come = Counter(move.target for move in moves)
    leave = Counter(move.source for move in moves)
    busiest = sorted(come | leave, key=lambda name: (-come[name] - leave[name], name))
    return [Turnover(name, jobs.get(name, 0), come[name], leave[name]) for name in busiest]


def forecast(takers: Sequence[Load], moves: Sequence[Move]) -> Forecast:
    """Forecast these moves; only instances that take jobs are part of the spread."""
    gained = Counter(move.target for move in moves)
    gained.subtract(move.source for move in moves)
    after = [_with(load, gained.get(load.instance_id, 0)) for load in takers]
    return Forecast(spread(takers), spread(after), len(moves))


def _with(load: Load, jobs: int) -> Load:
    return replace(load, jobs=load.jobs + jobs) if jobs else load
