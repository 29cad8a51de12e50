"""Write what look-ups have shown of names: states, times, and what waits for confirmation."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from atributo_site.core.text import pluralize
from pools import timeline
from pools.logic.dns.change_guard import Verdict
from pools.logic.dns.lookup import Step
from pools.models import BackendChange, Pool
from pools.timeline import Line
from pools.watch.watched_name import Reading

MOST_STEPS = 60
Kind = BackendChange.Kind
Clock = Callable[[float], datetime | None]
SEEN = [
    "state",
    "state_since",
    "last_error",
    "began_at",
    "looked_up_at",
    "stale_since",
    "next_at",
    "next_srv_at",
    "next_v6_at",
    "next_v4_at",
    "waiting",
    "waiting_since",
    "steps",
    "answer",
]


@dataclass(frozen=True)
class Observation:
    """`changed` holds the keys of backends with another SRV priority or weight."""

    pool: Pool
    reading: Reading
    verdict: Verdict
    changed: Sequence[str] = ()


def write_observations(observations: Sequence[Observation], clock: Clock) -> None:
    """Update all rows with one statement; they exist and are locked, so none is inserted."""
    lines = [line for observation in observations for line in _lines(observation)]
    for observation in observations:
        for name, value in _values(observation, clock).items():
            setattr(observation.pool, name, value)
    Pool.objects.bulk_create(
        [observation.pool for observation in observations],
        update_conflicts=True,
        unique_fields=["pk"],
        update_fields=SEEN,
    )
    timeline.write(lines)


def steps_as_dicts(steps: Any, now_ms: float) -> list[dict[str, Any]]:
    """Return steps for people and programs: the server, the time taken and the result."""
    return [_step(step, now_ms) for step in list(steps)[-MOST_STEPS:]]


def _values(observation: Observation, clock: Clock) -> dict[str, Any]:
    pool, reading, waits = observation.pool, observation.reading, observation.verdict.waits
    at = clock(reading.at)
    stale = None if reading.stale_since is None else clock(reading.stale_since)
    return {
        "state": reading.state,
        "state_since": pool.state_since if reading.state == pool.state else at,
        "last_error": (reading.error or "")[:1000],
        "began_at": clock(reading.began_at),
        "looked_up_at": at,
        "stale_since": stale and min(stale, pool.stale_since or stale),
        "next_at": clock(reading.next_at["wake"]),
        "next_srv_at": clock(reading.next_at["srv"]),
        "next_v6_at": clock(reading.next_at["v6"]),
        "next_v4_at": clock(reading.next_at["v4"]),
        "waiting": len(waits),
        "waiting_since": (pool.waiting_since or at) if waits else None,
        "steps": steps_as_dicts(reading.steps, reading.at),
        "answer": sorted(reading.backends),
    }


def _lines(observation: Observation) -> Iterator[Line]:
    """Yield a line for another state, stale or fresh, and unconfirmed or settled."""
    pool, reading, verdict = observation.pool, observation.reading, observation.verdict
    if reading.state != pool.state and reading.state == Pool.State.FAILED:
        yield Line(pool, Kind.FAILED, detail=reading.error or "")
    elif reading.state != pool.state and reading.state == Pool.State.RUNNING:
        yield Line(pool, Kind.RUNNING)
    if reading.stale_since is not None and pool.stale_since is None:
        yield Line(pool, Kind.STALE, detail=reading.error or "")
    elif reading.stale_since is None and pool.stale_since is not None:
        yield Line(pool, Kind.FRESH)
    if verdict.waits and not pool.waiting:
        many = f"{pluralize(len(verdict.waits), 'backend')} vanished at once"
        yield Line(pool, Kind.WAITING, detail=f"{many}: a second lookup must confirm it")
    elif pool.waiting and not verdict.waits:
        confirmed = f"{len(verdict.removed)} confirmed" if verdict.removed else "they are back"
        yield Line(pool, Kind.SETTLED, detail=confirmed)


def _step(step: Step, now_ms: float) -> dict[str, Any]:
    return {
        "server": step.server,
        "name": step.name,
        "type": step.rdtype,
        "attempt": step.attempt,
        "took_ms": round(step.took_ms, 1),
        "result": step.result[:200],
        "ttl_seconds": round(step.ttl_ms / 1000) if step.ttl_ms else None,
        "ago_ms": round(now_ms - step.at, 1),
    }
