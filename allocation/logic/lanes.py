"""Find the highest scores of rendezvous among very many candidates, without scoring each of them.

One large number has a lane of 128 bits for each candidate, so that every step of the hash is one
operation for all of them. The first byte of each hash then shows who can win, and only those are
scored. The answer is that of scoring all.
"""

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from allocation.logic.choose import FIRST, MASK, SECOND, Candidate, number_of, pull

LANE_BYTES = 16
TOP_BYTE = 7  # of a hash of 64 bits, the least significant byte first


class Lanes:
    """The lanes are ordered by weight, in groups within which weights differ by less than two."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._candidates = candidates
        order = sorted(range(len(candidates)), key=lambda place: -candidates[place].weight)
        self._places = array("L", order)
        numbers = [number_of(candidates[place].id) for place in order]
        self._hashes = _packed([number ^ (number >> 30) for number in numbers])
        self._ones, self._masks = _packed([1] * len(order)), _packed([MASK] * len(order))
        self._groups = list(self._by_magnitude(order))

    def best(self, job_id: str, is_open: Callable[[Candidate], bool]) -> Candidate | None:
        """Return the open candidate with the highest score; of equals the first in their order."""
        number = number_of(job_id)
        tops = self._top_bytes(number)
        best: tuple[float, int] | None = None
        for weight, start, end in self._groups:
            for top in range(255, -1, -1):
                if best is not None and best[0] > _highest(weight, top):
                    break
                for lane in _places_of(tops, top, start, end):
                    best = self._better(best, number, self._places[lane], is_open)
        return None if best is None else self._candidates[-best[1]]

    def _better(
        self,
        best: tuple[float, int] | None,
        number: int,
        place: int,
        is_open: Callable[[Candidate], bool],
    ) -> tuple[float, int] | None:
        candidate = self._candidates[place]
        score = pull(number, candidate), -place
        if best is not None and score <= best:
            return best
        return score if is_open(candidate) else best

    def _top_bytes(self, number: int) -> bytes:
        """Return the first byte of every hash; see `pull`, whose last step does not change it."""
        mixed = self._hashes ^ (self._ones * (number ^ (number >> 30)))
        mixed = (mixed * FIRST) & self._masks
        mixed = ((mixed ^ (mixed >> 27)) & self._masks) * SECOND
        return mixed.to_bytes(LANE_BYTES * len(self._places), "little")[TOP_BYTE::LANE_BYTES]

    def _by_magnitude(self, order: list[int]) -> Iterator[tuple[float, int, int]]:
        """Return the highest weight of every group, and its first and last lane."""
        start = 0
        for _, group in groupby(order, lambda place: math.frexp(self._candidates[place].weight)[1]):
            places = list(group)
            yield self._candidates[places[0]].weight, start, start + len(places)
            start += len(places)


def _packed(numbers: list[int]) -> int:
    lanes = array("Q", bytes(LANE_BYTES * len(numbers)))
    lanes[::2] = array("Q", numbers)
    return int.from_bytes(lanes.tobytes(), "little")


def _places_of(tops: bytes, top: int, start: int, end: int) -> Iterator[int]:
    wanted = bytes([top])
    lane = tops.find(wanted, start, end)
    while lane >= 0:
        yield lane
        lane = tops.find(wanted, lane + 1, end)


def _highest(weight: float, top: int) -> float:
    """Return a score that no hash with this first byte reaches."""
    return math.inf if top == 255 else -weight / math.log((top + 1) / 256)
