"""What every store can do, and the values that go in and come out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from allocation.logic.choose import md5_number
from allocation.storage.postgresql_sql import BUCKETS


class Placement(NamedTuple):
    """One job on one instance, chosen from the roster of that version."""

    job_id: str
    instance_id: str
    version: int
    strategy: str
    candidates: int
    score: float | None
    actor: str
    channel: str
    capacity: int | None = None


@dataclass(frozen=True, slots=True)
class Placements:
    """Many jobs, each with its instance and score, chosen from one roster."""

    chosen: list[tuple[str, str, float | None]]
    version: int
    strategy: str
    candidates: int
    actor: str
    channel: str


@dataclass(frozen=True, slots=True)
class Deallocation:
    """Jobs whose placement ends; with an epoch, only the placement of that epoch."""

    job_ids: list[str]
    actor: str
    reason: str
    epoch: int | None = None


class PlacementResult(NamedTuple):
    """At most one of both is set; none if the roster has another version or there is no room."""

    existing: str | None
    placed: str | None
    version: int


class Store(Protocol):
    def find(self, job_id: str) -> str | None: ...

    def find_many(self, job_ids: list[str]) -> dict[str, str]: ...

    def place(self, placement: Placement) -> PlacementResult: ...

    def place_many(self, placements: Placements) -> tuple[dict[str, str], dict[str, str]]:
        """Return the old and the new placements; store none if the roster has changed."""
        ...

    def end(self, deallocation: Deallocation) -> dict[str, str]:
        """Delete placements; return job → the instance it was on."""
        ...

    def epochs(self, count: int) -> list[int]: ...

    def make_counters(self, instance_ids: list[str]) -> None:
        """Make counters, so that the first placement on an instance is as fast as the others."""
        ...

    def count(self, jobs: dict[str, int]) -> None:
        """Add to the counters of instances; jobs that leave are negative."""
        ...


def bucket(job_id: str) -> int:
    return md5_number(job_id) % BUCKETS


def buckets(job_ids: Iterable[str]) -> list[int]:
    """Return each bucket once and in order, so that two callers never deadlock."""
    return sorted({bucket(job_id) for job_id in job_ids})
