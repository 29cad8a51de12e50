"""What every store can do, and the values that go in and come out."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from allocation.logic.choose import md5_number
from allocation.storage.postgresql_sql import BUCKETS

# Not by the ORM, which takes three times as long for 10,000 instances.
LOADS = """
SELECT instance_id, CAST(SUM(jobs) AS bigint) FROM allocation_instanceload GROUP BY instance_id
"""


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
    labels: str | None = None


@dataclass(frozen=True, slots=True)
class Placements:
    """Many jobs, each with its instance and score, chosen from one roster."""

    chosen: list[tuple[str, str, float | None]]
    version: int
    strategy: str
    candidates: int
    actor: str
    channel: str
    labels: str | None = None


@dataclass(frozen=True, slots=True)
class Relocation:
    """Jobs that move, each with its source and target; one that has left its source stays."""

    moves: list[tuple[str, str, str]]
    reason: str
    candidates: int
    actor: str
    channel: str

    def facts(self) -> dict[str, Any]:
        # psycopg would look at each member of an array
        named = {"reason": self.reason, "candidates": self.candidates}
        moves = json.dumps(sorted(self.moves))
        return {"moves": moves, **named, "actor": self.actor, "channel": self.channel}


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

    def find_likely(self, job_id: str) -> str | None:
        """Return the instance if a look costs less than to choose one in vain; else None."""
        ...

    def find_many(self, job_ids: list[str]) -> dict[str, str]: ...

    def place(self, placement: Placement) -> PlacementResult: ...

    def place_many(self, placements: Placements) -> tuple[dict[str, str], dict[str, str]]:
        """Return the old and the new placements; store none if the roster has changed."""
        ...

    def move(self, relocation: Relocation) -> int:
        """Change placements and keep the old ones; return how many. The caller has the locks."""
        ...

    def end(self, deallocation: Deallocation) -> dict[str, str]:
        """Delete placements; return job → the instance it was on."""
        ...

    def epochs(self, count: int) -> list[int]: ...

    def last_epoch(self) -> int: ...

    def drawing(self) -> set[str]:
        """Return the transactions of others that may have drawn an epoch and are not over."""
        ...

    def make_counters(self, instance_ids: list[str]) -> None:
        """Make counters, so that the first placement on an instance is as fast as the others."""
        ...


def bucket(job_id: str) -> int:
    return md5_number(job_id) % BUCKETS


def buckets(job_ids: Iterable[str]) -> list[int]:
    """Return each bucket once and in order, so that two callers never deadlock."""
    return sorted({bucket(job_id) for job_id in job_ids})
