"""Choose among candidates whose loads change with every choice, without counting all again.

Each chooses as its strategy in `choose` does for the same candidates and loads.
"""

from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Protocol

from allocation.logic.choose import LOAD_BOUND, Candidate, rendezvous
from allocation.logic.lanes import Lanes

FEW = 100  # candidates that are scored one by one


class Listed:
    """Candidates in their order, with what strategies compute from them once."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.all = candidates

    @cached_property
    def places(self) -> dict[str, int]:
        return {each.id: place for place, each in enumerate(self.all)}

    @cached_property
    def weight(self) -> float:
        return sum(each.weight for each in self.all)

    @cached_property
    def lanes(self) -> Lanes:
        return Lanes(self.all)


class Selection(Protocol):
    def choose(self, job_id: str, shut: Set[str]) -> Candidate:
        """Return one that is not shut; the caller knows that there is one."""
        ...

    def changed(self, instance_id: str, jobs: int) -> None:
        """Notice that an instance has so many jobs more; the loads say so already."""
        ...


class ByRendezvous:
    """Keep the sum of the loads, which bounds the load of each."""

    def __init__(self, listed: Listed, loads: Mapping[str, int], share: float = 0.0) -> None:
        self._listed, self._loads, self._share = listed, loads, share
        self._jobs = sum(loads.get(each.id, 0) for each in listed.all)

    def changed(self, instance_id: str, jobs: int) -> None:
        if instance_id in self._listed.places:
            self._jobs += jobs

    def choose(self, job_id: str, shut: Set[str]) -> Candidate:
        if len(self._listed.all) <= FEW:
            open_now = [each for each in self._listed.all if each.id not in shut]
            return rendezvous(job_id, open_now, self._loads, self._share)
        limit = self._limit(shut)

        def is_open(each: Candidate) -> bool:
            return each.id not in shut and self._loads.get(each.id, 0) < limit * each.weight

        best = self._listed.lanes.best(job_id, is_open)
        assert best is not None  # the mean is below the limit
        return best

    def _limit(self, shut: Set[str]) -> float:
        places, every = self._listed.places, self._listed.all
        closed = [every[places[key]] for key in shut if key in places]
        jobs = self._jobs - sum(self._loads.get(each.id, 0) for each in closed) + 1
        weight = self._listed.weight - sum(each.weight for each in closed)
        return max(LOAD_BOUND * self._share, LOAD_BOUND * jobs / weight)


class ByLeastLoad:
    """Keep a heap of loads for their weights; an entry that is out of date is dropped."""

    def __init__(self, listed: Listed, loads: Mapping[str, int]) -> None:
        self._listed, self._loads = listed, loads
        self._heap = [(self._load(place), place) for place in range(len(listed.all))]
        heapify(self._heap)

    def changed(self, instance_id: str, jobs: int) -> None:
        place = self._listed.places.get(instance_id)
        if place is not None:
            heappush(self._heap, (self._load(place), place))

    def choose(self, job_id: str, shut: Set[str]) -> Candidate:
        passed = []
        while True:
            load, place = self._heap[0]
            if load != self._load(place):
                heappop(self._heap)
            elif self._listed.all[place].id in shut:
                passed.append(heappop(self._heap))
            else:
                break
        for entry in passed:
            heappush(self._heap, entry)
        return self._listed.all[place]

    def _load(self, place: int) -> float:
        candidate = self._listed.all[place]
        return self._loads.get(candidate.id, 0) / candidate.weight
