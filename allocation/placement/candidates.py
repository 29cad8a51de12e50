"""Keep the available instances and their loads in memory, with the version of the list."""

import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock

from allocation.logic.choose import Candidate
from allocation.logic.labels import Labels, as_texts, encoded, has
from allocation.logic.selection import Listed, Selection
from allocation.models import Instance, Roster
from allocation.storage.base import LOADS
from atributo_site.core.database import execute

FULL_SECONDS = 0.5  # for which a full instance is not tried again
LOADS_SECONDS = 0.5  # for which strategies may use old counts of jobs
MOST_MATCHING = 64  # sets of labels that are kept in memory


@dataclass(frozen=True)
class Candidates:
    """Ordered by id, by code point. A version of 0 stands for a database without instances."""

    version: int
    all: Sequence[Candidate]
    capacities: dict[str, int] = field(default_factory=dict)

    @cached_property
    def listed(self) -> Listed:
        return Listed(self.all)

    def ids(self) -> list[str]:
        return [candidate.id for candidate in self.all]

    def only(self, kept: Container[str]) -> "Candidates":
        """Return those of these ids, in their order."""
        capacities = {key: most for key, most in self.capacities.items() if key in kept}
        return Candidates(self.version, tuple(c for c in self.all if c.id in kept), capacities)

    def without(self, excluded: Set[str]) -> "Candidates":
        if not excluded:
            return self
        return replace(self, all=[c for c in self.all if c.id not in excluded])


@dataclass
class Loads:
    """Jobs per instance: counted a moment ago, plus what this process placed since.

    Threads share it, so that one chooses after the other.
    """

    jobs: dict[str, int]
    version: int = 0
    read_at: float = 0.0
    _selections: dict[int, tuple[Candidates, Selection]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def add(self, instance_id: str, jobs: int = 1) -> None:
        with self._lock:
            self.jobs[instance_id] = self.jobs.get(instance_id, 0) + jobs
            for _, selection in self._selections.values():
                selection.changed(instance_id, jobs)

    def choose(
        self,
        job_id: str,
        candidates: Candidates,
        shut: Set[str],
        select: Callable[[Listed, Mapping[str, int]], Selection],
    ) -> Candidate:
        """Choose by a selection that is made once for these candidates."""
        with self._lock:
            known = self._selections.get(id(candidates))
            if known is None:
                if len(self._selections) >= MOST_MATCHING:
                    self._selections.clear()
                known = candidates, select(candidates.listed, self.jobs)
                self._selections[id(candidates)] = known
            return known[1].choose(job_id, shut)


_candidates: dict[str, Candidates] = {}
_loads: dict[str, Loads] = {}
_full: dict[str, dict[str, tuple[int, float]]] = {}
_labels: dict[str, tuple[int, dict[str, Labels]]] = {}
_matching: dict[tuple[str, str], Candidates] = {}


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
    known = _candidates.get(using)
    if known == candidates:  # with all that was computed from it
        return known
    _candidates[using] = candidates
    return candidates


def matching(using: str, wanted: Labels, candidates: Candidates) -> Candidates:
    """Return the candidates that have these labels; found once for every list."""
    key = using, encoded(wanted) or ""
    known = _matching.get(key)
    if known is None or known.version != candidates.version:
        labels = labels_of(using, candidates)
        known = candidates.only({each for each, own in labels.items() if has(own, wanted)})
        if len(_matching) >= MOST_MATCHING:
            _matching.clear()
        _matching[key] = known
    return known


def labels_of(using: str, candidates: Candidates) -> dict[str, Labels]:
    """Return instance → its labels, without those that have none.

    They are read after the list: labels newer than its version are refused with it.
    """
    version, labels = _labels.get(using, (None, {}))
    if version != candidates.version:
        rows = Instance.objects.using(using).available().exclude(labels={})
        labels = {key: as_texts(own) for key, own in rows.values_list("id", "labels")}
        _labels[using] = candidates.version, labels
    return labels


def loads(using: str) -> Loads:
    """Return the loads; count them again twice a second, and if the list has changed."""
    known = _loads.get(using)
    version = cached(using).version
    is_old = known is None or time.monotonic() - known.read_at > LOADS_SECONDS
    if known is None or is_old or known.version != version:
        known = _loads[using] = read_loads(using, version)
    return known


def read_loads(using: str, version: int = 0) -> Loads:
    jobs: dict[str, int] = dict(execute(LOADS, {}, using).rows)
    return Loads(jobs, version, time.monotonic())


def count_ended(instance_ids: Iterable[str], using: str) -> None:
    """Count jobs that have left these instances."""
    known = _loads.get(using)
    if known is not None:
        for instance_id, jobs in Counter(instance_ids).items():
            known.add(instance_id, -jobs)


def forget_loads(using: str) -> None:
    """Count again at the next choice, since many jobs have left."""
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
        self.all = candidates
        self.shut = {key for key, left in room.items() if left <= 0}
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
        (self.shut.discard if is_open else self.shut.add)(instance_id)
        place = bisect_left(self._open, instance_id, key=lambda each: each.id)
        if is_open:
            self._open.insert(place, self._known[instance_id])
        else:
            del self._open[place]


os.register_at_fork(after_in_child=_loads.clear)  # another thread may have had the lock
