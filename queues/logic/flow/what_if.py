"""Estimate when a backlog ends under given limits, and which of them holds it longest.

Each limit alone would let the work that it counts end at some moment. The latest of these moments
is the estimate: no order of starts ends earlier, and with enough keys the turns come close to it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from queues.logic.flow.admission import Bucket, Place, bucket_of
from queues.logic.flow.limits import Limit


@dataclass(frozen=True, slots=True)
class Pile:
    """Jobs that wait and count in the same places."""

    place: Place
    jobs: int
    seconds: float  # that each of them takes


@dataclass(frozen=True, slots=True)
class End:
    seconds: float
    held_by: str  # in words; empty when nothing waits


def end_of(
    piles: Sequence[Pile],
    workers: int,
    of_queue: Sequence[Limit] = (),
    of_scripts: Mapping[str, Sequence[Limit]] | None = None,
    hosts: int = 1,
) -> End:
    """Return when the last job ends, with so many workers on so many hosts."""
    if not any(pile.jobs for pile in piles):
        return End(0.0, "")
    ends = [End(_spread(piles, workers), f"{workers} at once in the queue")]
    ends += _ends("queue", piles, of_queue, hosts)
    for script, limits in (of_scripts or {}).items():
        of_script = [pile for pile in piles if pile.place.script == script]
        ends += _ends("script", of_script, limits, hosts)
    return max(ends, key=lambda end: end.seconds)


def _ends(scope: str, piles: Sequence[Pile], limits: Iterable[Limit], hosts: int) -> list[End]:
    ends = []
    for limit in limits:
        counted: dict[Bucket, list[Pile]] = defaultdict(list)
        for pile in piles:
            counted[bucket_of(scope, limit, pile.place)].append(pile)
        for bucket, together in counted.items():
            seconds = _under(limit, together, hosts if _is_of_any_host(limit, bucket) else 1)
            name = f" ({bucket[2]})" if limit.per == "key" and bucket[2] else ""
            ends.append(End(seconds, f"{limit.said()}{name}"))
    return ends


def _is_of_any_host(limit: Limit, bucket: Bucket) -> bool:
    """Return whether the jobs may run on any host, each of which has a count of its own."""
    return limit.per == "instance" and not bucket[2]


def _under(limit: Limit, piles: Sequence[Pile], hosts: int) -> float:
    if limit.at_once is not None:
        return _spread(piles, limit.at_once * hosts)
    jobs = sum(pile.jobs for pile in piles)
    starts = max(0, jobs - limit.burst * hosts) * limit.interval_us / 1_000_000 / hosts
    return starts + min((pile.seconds for pile in piles if pile.jobs), default=0.0)


def _spread(piles: Sequence[Pile], at_once: int) -> float:
    work = sum(pile.jobs * pile.seconds for pile in piles)
    return max(work / at_once, max((pile.seconds for pile in piles if pile.jobs), default=0.0))
