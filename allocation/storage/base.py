"""What is placed or ended, and what came of it."""

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
class Removal:
    """Jobs whose placement ends; with an epoch, only the placement of that epoch."""

    job_ids: list[str]
    actor: str
    reason: str
    epoch: int | None = None


class PlacementResult(NamedTuple):
    """At most one of the two is set; neither when the roster has another version or no room."""

    existing: str | None
    placed: str | None
    version: int


class Store(Protocol):
    def find(self, job_id: str) -> str | None: ...

    def find_many(self, job_ids: list[str]) -> dict[str, str]: ...

    def place(self, placement: Placement) -> PlacementResult: ...

    def place_many(self, placements: Placements) -> tuple[dict[str, str], dict[str, str]]:
        """Those that existed and those that are new; no new ones if the roster has changed."""
        ...

    def end(self, ending: Removal) -> dict[str, str]:
        """Job → the instance it was on, for those that were placed."""
        ...

    def epochs(self, count: int) -> list[int]: ...

    def make_counters(self, instance_ids: list[str]) -> None:
        """So that the first placement on an instance is as fast as the others."""
        ...

    def count(self, jobs: dict[str, int]) -> None:
        """Add to the counters of instances; what leaves is negative."""
        ...


def bucket(job_id: str) -> int:
    return md5_number(job_id) % BUCKETS


def buckets(job_ids: Iterable[str]) -> list[int]:
    """Each once and in order, so that two callers never wait for each other in a circle."""
    return sorted({bucket(job_id) for job_id in job_ids})
