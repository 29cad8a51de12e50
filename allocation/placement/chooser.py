"""Choose an instance from the list by a named strategy or by the caller's own allocator."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace

from allocation.errors import AllocatorError, NoInstanceAvailable, NoInstances
from allocation.logic.choose import COUNTS_LOAD, NO_LOADS, STRATEGIES, Candidate
from allocation.logic.labels import NO_LABELS, Labels, encoded, sentence
from allocation.logic.selection import ByLeastLoad, ByRendezvous, Listed, Selection
from allocation.placement import candidates as lists
from allocation.placement.candidates import Candidates, CandidatesWithRoom, Loads

NOBODY: Set[str] = frozenset()


@dataclass(frozen=True)
class PlacementRequest:
    """A job without an instance, as an allocator of one's own sees it.

    The instances are those that are available and have the labels that the job asks for.
    """

    using: str
    job_id: str
    labels: Labels
    candidates: Candidates

    @property
    def instance_ids(self) -> list[str]:
        return self.candidates.ids()

    @property
    def instance_labels(self) -> dict[str, Labels]:
        """Return instance → its labels, as texts."""
        known = lists.labels_of(self.using, lists.cached(self.using))
        return {key: known.get(key, NO_LABELS) for key in self.instance_ids}


Allocator = Callable[[PlacementRequest], tuple[str, bool]]


@dataclass(frozen=True)
class Chooser:
    """`jobs` are the loads that a plan counts for itself; others share those of the process.

    `share` is for each unit of weight what every instance may have, whatever those loads are.
    """

    using: str
    strategy: str
    allocator: Allocator | None = None
    labels: Labels = field(default_factory=dict)
    jobs: Loads | None = None
    share: float = 0.0

    @property
    def name(self) -> str:
        """Return the word that the placement keeps as its reason."""
        return self.strategy if self.allocator is None else "custom"

    @property
    def counts(self) -> bool:
        return self.allocator is None and self.strategy in COUNTS_LOAD

    @property
    def by_id_alone(self) -> bool:
        """Return whether neither loads nor a caller's own allocator matter."""
        return self.allocator is None and not self.counts

    @property
    def encoded_labels(self) -> str | None:
        return encoded(self.labels)

    def asking_for(self, labels: Labels) -> "Chooser":
        return replace(self, labels=labels) if labels else self

    def cached(self) -> Candidates:
        return self._matching(lists.cached(self.using))

    def fresh(self) -> Candidates:
        return self._matching(lists.fresh(self.using))

    def choose(
        self, job_id: str, candidates: Candidates, shut: Set[str] = NOBODY
    ) -> tuple[Candidate, bool]:
        """Return the candidate, and whether to store it. There is one that is not shut."""
        if self.allocator is not None:
            return self._ask(self.allocator, job_id, candidates.without(shut))
        if not self.counts:
            return STRATEGIES[self.strategy](job_id, candidates.without(shut).all, NO_LOADS), True
        return self._jobs().choose(job_id, candidates, shut, self._select), True

    def choose_open(self, job_id: str, with_room: CandidatesWithRoom) -> tuple[Candidate, bool]:
        """Choose among those that have room while many are chosen."""
        if self.counts:
            return self.choose(job_id, with_room.all, with_room.shut)
        return self.choose(job_id, with_room.candidates)

    def at_one_moment(self) -> "Chooser":
        """Return one that counts on from the loads of now and does not look again."""
        return replace(self, jobs=self._jobs()) if self.counts else self

    def score(self, choice: Candidate) -> float | None:
        """Return the load that the strategy saw, if it mattered."""
        return self._jobs().jobs.get(choice.id, 0) / choice.weight if self.counts else None

    def count(self, instance_id: str, jobs: int = 1) -> None:
        if self.counts:
            self._jobs().add(instance_id, jobs)

    def nowhere(self, job_id: str, full: int) -> NoInstances:
        """Return the error for a job that no instance can take."""
        if not self.labels:
            return NoInstances("no instances", job_id=job_id, full=full)
        room = " has room and" if full else ""
        message = f"no available instance{room} has the labels {sentence(self.labels)}"
        return NoInstanceAvailable(message, job_id=job_id, full=full, labels=dict(self.labels))

    def _matching(self, candidates: Candidates) -> Candidates:
        if not self.labels:
            return candidates
        return lists.matching(self.using, self.labels, candidates)

    def _jobs(self) -> Loads:
        return lists.loads(self.using) if self.jobs is None else self.jobs

    def _select(self, listed: Listed, jobs: Mapping[str, int]) -> Selection:
        if self.strategy == "rendezvous":
            return ByRendezvous(listed, jobs, self.share)
        return ByLeastLoad(listed, jobs)

    def _ask(
        self, allocator: Allocator, job_id: str, candidates: Candidates
    ) -> tuple[Candidate, bool]:
        answer = allocator(PlacementRequest(self.using, job_id, self.labels, candidates))
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise AllocatorError(
                f"the allocator answered {answer!r}, not an instance and whether to store it",
                job_id=job_id,
            )
        instance_id, persist = answer
        known = next((c for c in candidates.all if c.id == instance_id), None)
        if known is None:
            raise AllocatorError(
                f"the allocator chose {instance_id!r}, which is not available", job_id=job_id
            )
        return known, persist
