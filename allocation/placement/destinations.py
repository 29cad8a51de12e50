"""Choose where placed jobs would go: in a drain, in a rebalance, or because nobody serves them."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from django.conf import settings

from allocation.logic.labels import NO_LABELS, Labels, encoded, has
from allocation.placement.candidates import (
    Candidates,
    CandidatesWithRoom,
    Loads,
    fresh,
    labels_of,
    read_loads,
)
from allocation.placement.chooser import Chooser
from allocation.placement.moves import asked_labels
from allocation.placement.place_many import room_of

FEWEST = 5  # jobs that are looked at in any case
MOST_SCORED = 100_000  # candidates that one preview, or one sweep, compares


@dataclass
class Destinations:
    """Choose by the strategy, but no full instance and none without the labels of the job.

    It counts for itself what it has chosen: nobody else sees jobs that are only planned.
    """

    chooser: Chooser
    candidates: Candidates
    room: dict[str, int]
    from_start: bool = False  # the jobs that it will be asked about are not counted yet
    asked: dict[str, Labels] = field(default_factory=dict)
    _with_room: dict[str | None, CandidatesWithRoom] = field(default_factory=dict)

    @classmethod
    def without(
        cls, instance_id: str | None, using: str, *, among: Container[str] | None = None
    ) -> "Destinations":
        known = fresh(using)
        kept = {key for key in known.ids() if among is None or key in among} - {instance_id}
        candidates = known if len(kept) == len(known.all) else known.only(kept)
        loads = read_loads(using)
        room = room_of(candidates, using, loads)
        return cls(Chooser(using, settings.ATRIBUTO.strategy, jobs=loads), candidates, room)

    @classmethod
    def anew(cls, using: str, decided: Loads) -> "Destinations":
        """Choose as if all jobs were placed from the start; `decided` counts those before.

        With the loads of now, jobs would leave an instance from which others leave later.
        """
        candidates = fresh(using)
        weight = sum(each.weight for each in candidates.all)
        jobs = sum(read_loads(using).jobs.values())
        room = {key: most - decided.jobs.get(key, 0) for key, most in candidates.capacities.items()}
        share = jobs / weight if weight else 0.0
        chooser = Chooser(using, settings.ATRIBUTO.strategy, jobs=decided, share=share)
        return cls(chooser, candidates, room, from_start=True)

    def expect(self, job_ids: Iterable[str]) -> None:
        """Read which labels these placed jobs ask for."""
        self.asked = asked_labels(job_ids, self.chooser.using)

    def most(self, wanted: int) -> int:
        """Return how many jobs to look at, at most: some strategies score every instance."""
        scored = max(1, len(self.candidates.all))
        return min(wanted, max(FEWEST, MOST_SCORED // scored)) if self.chooser.counts else wanted

    def choose(self, job_id: str) -> str | None:
        with_room = self._open_to(self.asked.get(job_id, NO_LABELS))
        if not with_room.candidates.all:
            return None
        chosen = self.chooser.choose_open(job_id, with_room)[0].id
        self._count(chosen, 1)
        return chosen

    def choose_again(self, job_id: str, source: str) -> str | None:
        """Choose as if the job had left its instance, which may be chosen again."""
        if not self.from_start:
            self._count(source, -1)
        chosen = self.choose(job_id)
        if chosen is None:
            self._count(source, 1)
        return chosen

    def _open_to(self, labels: Labels) -> CandidatesWithRoom:
        key = encoded(labels)
        known = self._with_room.get(key)
        if known is None:
            candidates = self._with_labels(labels)
            room = {each: self.room[each] for each in candidates.capacities}
            known = self._with_room[key] = CandidatesWithRoom(candidates, room)
        return known

    def _with_labels(self, labels: Labels) -> Candidates:
        if not labels:
            return self.candidates
        known = labels_of(self.chooser.using, self.candidates)
        return self.candidates.only({key for key, own in known.items() if has(own, labels)})

    def _count(self, instance_id: str, jobs: int) -> None:
        self.chooser.count(instance_id, jobs)
        if instance_id in self.room:
            self.room[instance_id] -= jobs
        for each in self._with_room.values():
            each.add(instance_id, jobs)
