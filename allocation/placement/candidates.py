"""Keep the available instances and their loads in memory, with the version of the list."""

import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Sum

from allocation.logic.choose import Candidate
from allocation.models import Instance, InstanceLoad, Roster

FULL_SECONDS = 0.5  # for which a full instance is not tried again
LOADS_SECONDS = 0.5  # for which strategies may use old counts of jobs


@dataclass(frozen=True)
class Candidates:
    """Ordered by id, by code point. A version of 0 stands for a database without instances."""

    version: int
    all: Sequence[Candidate]
    capacities: dict[str, int] = field(default_factory=dict)

    def ids(self) -> list[str]:
        return [candidate.id for candidate in self.all]

    def without(self, excluded: set[str]) -> "Candidates":
        if not excluded:
            return self
        return replace(self, all=[c for c in self.all if c.id not in excluded])


@dataclass
class Loads:
    """Jobs per instance: counted a moment ago, plus what this process placed since."""

    jobs: dict[str, int]
    version: int
    read_at: float

    def add(self, instance_id: str, jobs: int = 1) -> None:
        self.jobs[instance_id] = self.jobs.get(instance_id, 0) + jobs


_candidates: dict[str, Candidates] = {}
_loads: dict[str, Loads] = {}
_full: dict[str, dict[str, tuple[int, float]]] = {}


def cached(using: str) -> Candidates:
    """Return the list in memory; it may be old, but the database compares its version."""
    return _candidates.get(using) or fresh(using)


def current(using: str) -> Candidates:
    """Return the list in memory if it has the version of the database, else read it again."""
    known = _candidates.get(using)
    version = Roster.objects.using(using).values_list("version", flat=True).first() or 0
    return known if known is not None and known.version == version else fresh(using)


def fresh(using: str) -> Candidates:
    # Read the version first: a list newer than its version is refused, an older one would not be.
    version = Roster.objects.using(using).values_list("version", flat=True).first() or 0
    rows = Instance.objects.using(using).available().order_by("id")
    listed = list(rows.values_list("id", "weight", "capacity"))
    capacities = {key: capacity for key, _, capacity in listed if capacity is not None}
    candidates = Candidates(
        version, tuple(Candidate(key, weight) for key, weight, _ in listed), capacities
    )
    _candidates[using] = candidates
    return candidates


def loads(using: str) -> Loads:
    """Return the loads; count them again twice a second, and if the list has changed."""
    known = _loads.get(using)
    version = cached(using).version
    is_old = known is None or time.monotonic() - known.read_at > LOADS_SECONDS
    if known is None or is_old or known.version != version:
        known = _loads[using] = read_loads(using, version)
    return known


def read_loads(using: str, version: int = 0) -> Loads:
    rows = InstanceLoad.objects.using(using).values_list("instance_id").annotate(Sum("jobs"))
    return Loads(dict(rows.order_by()), version, time.monotonic())


def forget_loads(using: str) -> None:
    """Count again at the next choice, since jobs have left."""
    _loads.pop(using, None)


def recently_full(using: str) -> set[str]:
    """Return the instances of the list in memory that had no room a moment ago."""
    known = _full.get(using)
    if not known:
        return set()
    version, now = cached(using).version, time.monotonic()
    return {key for key, (of, until) in known.items() if of == version and until > now}


def remember_full(using: str, instance_id: str, version: int) -> None:
    _full.setdefault(using, {})[instance_id] = version, time.monotonic() + FULL_SECONDS


def forget_full(using: str) -> bool:
    """Forget which instances were full; return whether there were any."""
    return bool(_full.pop(using, None))


class CandidatesWithRoom:
    """The candidates that are not full, in their order, while jobs come and go.

    `room` is how many more jobs each instance with a capacity may get.
    """

    def __init__(self, candidates: Candidates, room: dict[str, int]) -> None:
        self._room = room
        self._known = {each.id: each for each in candidates.all if each.id in room}
        with_room = [each for each in candidates.all if room.get(each.id, 1) > 0]
        self._open = with_room
        self.candidates = replace(candidates, all=with_room) if room else candidates

    def add(self, instance_id: str, jobs: int = 1) -> None:
        """Count jobs that come to an instance, or leave it."""
        if instance_id not in self._room:
            return
        before = self._room[instance_id]
        self._room[instance_id] = after = before - jobs
        if (before > 0) != (after > 0):
            self._open_or_shut(instance_id, after > 0)

    def _open_or_shut(self, instance_id: str, is_open: bool) -> None:
        place = bisect_left(self._open, instance_id, key=lambda each: each.id)
        if is_open:
            self._open.insert(place, self._known[instance_id])
        else:
            del self._open[place]
