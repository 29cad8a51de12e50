"""Choose an instance from the list by a named strategy or by the caller's own allocator."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from allocation.errors import AllocatorError
from allocation.logic.choose import COUNTS_LOAD, NO_LOADS, STRATEGIES, Candidate
from allocation.placement.candidates import Candidates, loads

Allocator = Callable[[str, list[str]], tuple[str, bool]]


@dataclass(frozen=True)
class Chooser:
    using: str
    strategy: str
    allocator: Allocator | None = None

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

    def choose(self, job_id: str, candidates: Candidates) -> tuple[Candidate, bool]:
        """Return the candidate, and whether to store it."""
        if self.allocator is not None:
            return self._ask(self.allocator, job_id, candidates)
        return STRATEGIES[self.strategy](job_id, candidates.all, self._loads()), True

    def score(self, choice: Candidate) -> float | None:
        """Return the load that the strategy saw, if it mattered."""
        return self._loads().get(choice.id, 0) / choice.weight if self.counts else None

    def count(self, instance_id: str, jobs: int = 1) -> None:
        if self.counts:
            loads(self.using).add(instance_id, jobs)

    def _loads(self) -> Mapping[str, int]:
        return loads(self.using).jobs if self.counts else NO_LOADS

    def _ask(
        self, allocator: Allocator, job_id: str, candidates: Candidates
    ) -> tuple[Candidate, bool]:
        answer = allocator(job_id, candidates.ids())
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
