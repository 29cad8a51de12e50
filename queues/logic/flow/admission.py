"""Decide which waiting jobs of a queue start now: by priority, fairly between keys, within limits.

Keys take turns by virtual time: each start moves its key on by one divided by its weight, and the
key that is furthest behind is next. A key without jobs gains nothing by waiting, because it begins
again where the others are.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from queues.logic.flow.limits import Limit

Bucket = tuple[str, ...]
LOOK_AGAIN_US = 250_000  # for what no end of a job of this key tells


class Place(NamedTuple):
    """Where a job counts."""

    queue: str
    key: str
    script: str  # with its mount
    instance: str


class WaitingJob(NamedTuple):
    id: int
    rank: int
    limits: tuple[Limit, ...] = ()  # of its own push


@dataclass
class Candidate:
    """A flow: the jobs of one key and script, as far as they were looked at."""

    id: int
    key: str
    script: str
    time: float  # virtual
    jobs: list[WaitingJob]
    next: int = 0


class Block(NamedTuple):
    limit: Limit
    opens_at: int | None  # None: when a job ends
    is_everybody: bool = False  # it holds the whole queue


@dataclass
class Admission:
    queue: str
    instance: str
    now: int  # microseconds
    of_queue: tuple[Limit, ...] = ()
    of_scripts: Mapping[str, tuple[Limit, ...]] = field(default_factory=dict)
    weights: Mapping[str, int] = field(default_factory=dict)
    held: Counter[Bucket] = field(default_factory=Counter)
    full_at: dict[Bucket, int] = field(default_factory=dict)  # of rates
    # What was decided:
    taken: list[int] = field(default_factory=list)
    times: dict[str, float] = field(default_factory=dict)  # of the keys that had a turn
    parked: dict[int, Block] = field(default_factory=dict)  # flows that wait for their own limit
    closed: dict[str, Block] = field(default_factory=dict)  # scripts that wait for a shared one
    shut: Block | None = None  # the whole queue waits
    begun_at: float | None = None  # the virtual time of the first start
    drained: dict[Bucket, int] = field(default_factory=dict)  # rates that were used
    _of_places: dict[tuple[Place, tuple[Limit, ...]], list[tuple[Limit, Bucket]]] = field(
        default_factory=dict, repr=False
    )

    def admit(self, candidates: Sequence[Candidate], most: int) -> None:
        """Take up to so many jobs; a job with a rate is taken alone, so that it begins at once."""
        flows = {each.id: each for each in candidates if each.jobs}
        heap = [(each.jobs[0].rank, each.time, each.id) for each in flows.values()]
        heapify(heap)
        while heap and len(self.taken) < most and self.shut is None:
            rank, time, flow_id = heappop(heap)
            flow = flows[flow_id]
            if flow.script in self.closed:
                continue
            if (moved := self.times.get(flow.key, time)) > time:  # by another script of its key
                heappush(heap, (rank, moved, flow_id))
                continue
            job, place = flow.jobs[flow.next], Place(self.queue, flow.key, flow.script, "")
            place = place._replace(instance=self.instance)
            if (block := self._block(place, job)) is not None:
                self._stop(flow, block)
                continue
            is_rated = any(limit.at_once is None for limit, _ in self._limits(place, job))
            if is_rated and self.taken:
                return
            self._take(flow, job, place, time)
            if is_rated:
                return
            if flow.next < len(flow.jobs):
                heappush(heap, (flow.jobs[flow.next].rank, self.times[flow.key], flow_id))

    def _limits(self, place: Place, job: WaitingJob) -> list[tuple[Limit, Bucket]]:
        known = self._of_places.get((place, job.limits))
        if known is None:
            known = self._of_places[place, job.limits] = self._limits_at(place, job.limits)
        return known

    def _limits_at(self, place: Place, own: tuple[Limit, ...]) -> list[tuple[Limit, Bucket]]:
        queue, script = f"queue {place.queue}", f"script {place.script}"
        scoped = [(queue, limit) for limit in (*self.of_queue, *own)]
        scoped += [(script, limit) for limit in self.of_scripts.get(place.script, ())]
        return [(limit, bucket_of(scope, limit, place)) for scope, limit in scoped]

    def _block(self, place: Place, job: WaitingJob) -> Block | None:
        """Return the first limit that holds the job back; shared ones come first."""
        found = [
            block
            for limit, bucket in self._limits(place, job)
            if (block := self._held_back(limit, bucket)) is not None
        ]
        found.sort(key=lambda block: block.limit.per == "key")
        if not found:
            return None
        first = found[0]
        if first.limit in job.limits and first.limit not in self.of_queue:
            return self._own(first)
        whole = first.limit in self.of_queue and first.limit.per in ("queue", "instance")
        return first._replace(is_everybody=whole)

    def _own(self, block: Block) -> Block:
        """A shared limit of one push parks its flow alone: look again soon."""
        if block.limit.per == "key" or block.opens_at is not None:
            return block
        return block._replace(opens_at=self.now + LOOK_AGAIN_US)

    def _held_back(self, limit: Limit, bucket: Bucket) -> Block | None:
        if limit.at_once is not None:
            if self.held[bucket] < limit.at_once:
                return None
            again = self.now + LOOK_AGAIN_US if limit.per == "instance" else None
            return Block(limit, again)
        opens_at = limit.opens_at(self.full_at.get(bucket, 0))
        return None if opens_at <= self.now else Block(limit, opens_at)

    def _stop(self, flow: Candidate, block: Block) -> None:
        is_own = block.limit.per == "key" or not self._is_shared(flow.script, block.limit)
        if block.is_everybody:
            self.shut = block
        elif is_own:
            self.parked[flow.id] = block
        else:
            self.closed[flow.script] = block

    def _is_shared(self, script: str, limit: Limit) -> bool:
        return limit in self.of_queue or limit in self.of_scripts.get(script, ())

    def _take(self, flow: Candidate, job: WaitingJob, place: Place, time: float) -> None:
        self.taken.append(job.id)
        flow.next += 1
        if self.begun_at is None:
            self.begun_at = time
        self.times[flow.key] = time + 1 / self.weights.get(flow.key, 1)
        for limit, bucket in dict.fromkeys(self._limits(place, job)):
            if limit.at_once is None:
                full_at = limit.after_start(self.full_at.get(bucket, 0), self.now)
                self.full_at[bucket] = self.drained[bucket] = full_at
        buckets = {bucket for limit, bucket in self._limits(place, job) if limit.at_once}
        self.held.update(buckets)


def bucket_of(scope: str, limit: Limit, place: Place) -> Bucket:
    """Return what a limit counts: a limit of a queue counts in it, one of a script everywhere."""
    value = {
        "key": place.key,
        "queue": place.queue,
        "script": place.script,
        "instance": place.instance,
    }[limit.per]
    kind = "at_once" if limit.at_once is not None else f"{limit.rate} {limit.burst}"
    return (scope, limit.per, value, kind)
