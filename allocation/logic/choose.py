"""Choose the instance of a job by a named strategy, and tell why it was chosen."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, islice

from atributo_site.core.text import pluralize

LOAD_BOUND = 1.25  # no instance gets more than this many times its fair share
MASK = (1 << 64) - 1
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of splitmix64


@dataclass(frozen=True, slots=True)
class Candidate:
    """An available instance, as a strategy sees it."""

    id: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Score:
    """How one candidate stood when a job was placed; the first in the list won."""

    instance_id: str
    score: float
    note: str


Loads = Mapping[str, int]  # jobs per instance; one that is missing has none
Strategy = Callable[[str, Sequence[Candidate], Loads], Candidate]
NO_LOADS: Loads = {}


@lru_cache(maxsize=1024)
def md5_number(job_id: str) -> int:
    """Return the first four bytes of the MD5 of the UTF-8 text, most significant byte first."""
    digest = hashlib.md5(job_id.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


def md5_modulo(job_id: str, candidates: Sequence[Candidate], loads: Loads = NO_LOADS) -> Candidate:
    """Count through the list, ordered by id, as the first version of this program did."""
    return candidates[md5_number(job_id) % len(candidates)]


def rendezvous(
    job_id: str, candidates: Sequence[Candidate], loads: Loads = NO_LOADS, share: float = 0.0
) -> Candidate:
    """Choose the highest weighted score that is not overloaded; a new instance moves its share.

    `share` are the jobs for each unit of weight that every instance may have in any case.
    """
    score = partial(pull, number_of(job_id))
    limit = max(LOAD_BOUND * share, _limit(candidates, loads))
    best = max(candidates, key=score)
    if loads.get(best.id, 0) < limit * best.weight:
        return best
    with_room = [c for c in candidates if loads.get(c.id, 0) < limit * c.weight]
    return max(with_room, key=score)


def least_loaded(
    job_id: str, candidates: Sequence[Candidate], loads: Loads = NO_LOADS
) -> Candidate:
    """Choose the fewest jobs for its weight; of equals the first in the order of ids."""
    return min(candidates, key=lambda c: loads.get(c.id, 0) / c.weight)


STRATEGIES: dict[str, Strategy] = {
    "md5-modulo": md5_modulo,
    "rendezvous": rendezvous,
    "least-loaded": least_loaded,
}
COUNTS_LOAD = frozenset({"rendezvous", "least-loaded"})


def scores(
    strategy: str,
    job_id: str,
    candidates: Sequence[Candidate],
    most: int | None = None,
    loads: Loads = NO_LOADS,
) -> list[Score]:
    """Return the scores of the candidates, the winner first, as the explain view shows them."""
    if not candidates:
        return []
    return list(islice(_EXPLAINERS[strategy](job_id, candidates, loads), most))


def _md5_scores(job_id: str, candidates: Sequence[Candidate], loads: Loads) -> Iterator[Score]:
    number, count = md5_number(job_id), len(candidates)
    index = number % count
    note = f"{number} modulo {count} is {index}: place {index} of {count}"
    yield Score(candidates[index].id, 1.0, note)
    for place, candidate in enumerate(candidates):
        if place != index:
            yield Score(candidate.id, 0.0, f"place {place} of {count}")


def _rendezvous_scores(
    job_id: str, candidates: Sequence[Candidate], loads: Loads
) -> Iterator[Score]:
    score, limit = partial(pull, number_of(job_id)), _limit(candidates, loads)
    winner = rendezvous(job_id, candidates, loads)
    ranked = sorted(candidates, key=score, reverse=True)
    for c in chain([winner], (each for each in ranked if each.id != winner.id)):
        yield Score(c.id, score(c), _room(c, loads.get(c.id, 0), limit * c.weight))


def _room(candidate: Candidate, jobs: int, limit: float) -> str:
    state = "has room" if jobs < limit else "already has its fair share"
    return f"{pluralize(jobs, 'key')}, weight {candidate.weight:g}, {state}"


def _least_loaded_scores(
    job_id: str, candidates: Sequence[Candidate], loads: Loads
) -> Iterator[Score]:
    for c in sorted(candidates, key=lambda c: loads.get(c.id, 0) / c.weight):
        jobs = loads.get(c.id, 0)
        note = f"{pluralize(jobs, 'key')}, weight {c.weight:g}: lowest wins"
        yield Score(c.id, jobs / c.weight, note)


_EXPLAINERS: dict[str, Callable[[str, Sequence[Candidate], Loads], Iterator[Score]]] = {
    "md5-modulo": _md5_scores,
    "rendezvous": _rendezvous_scores,
    "least-loaded": _least_loaded_scores,
}


def _limit(candidates: Sequence[Candidate], loads: Loads) -> float:
    """Return the most jobs per unit of weight; there is always a candidate below it."""
    jobs = sum(loads.get(c.id, 0) for c in candidates) + 1
    return LOAD_BOUND * jobs / sum(c.weight for c in candidates)


def pull(number: int, candidate: Candidate) -> float:
    """Return the score of weighted rendezvous: -weight / ln(u) with u even in (0, 1).

    The finaliser of splitmix64 mixes it, so that one changed bit changes half of the answer.
    """
    mixed = number ^ number_of(candidate.id)
    mixed = ((mixed ^ (mixed >> 30)) * FIRST) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * SECOND) & MASK
    return -candidate.weight / math.log(((mixed ^ (mixed >> 31)) + 0.5) / 2.0**64)


@lru_cache(maxsize=65_536)
def number_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
