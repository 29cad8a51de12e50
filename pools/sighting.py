"""Write down what one look-up has shown of a name: its state, its times, its doubts."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.transaction import atomic

from allocation.leases import HeldLease
from pools.changes import note
from pools.logic.lookup import Step
from pools.logic.vanishing import Verdict
from pools.models import BackendChange, Pool
from pools.watched_name import Reading

MOST_STEPS = 60
Kind = BackendChange.Kind
Clock = Callable[[float], datetime | None]


def write_down(
    pool: Pool, reading: Reading, verdict: Verdict, clock: Clock, lease: HeldLease
) -> None:
    with atomic():
        lease.guard()
        _note_state(pool, reading)
        _note_stale(pool, reading)
        _note_doubt(pool, verdict)
        values = _values(pool, reading, verdict, clock)
        Pool.objects.filter(pk=pool.pk).update(**values)
    for name, value in values.items():
        setattr(pool, name, value)


def shown_steps(steps: Any, now_ms: float) -> list[dict[str, Any]]:
    """For people and programs: the server asked, how long it took and what it said."""
    return [_step(step, now_ms) for step in list(steps)[-MOST_STEPS:]]


def _values(pool: Pool, reading: Reading, verdict: Verdict, clock: Clock) -> dict[str, Any]:
    at = clock(reading.at)
    stale = None if reading.stale_since is None else clock(reading.stale_since)
    values: dict[str, Any] = {
        "state": reading.state,
        "last_error": (reading.error or "")[:1000],
        "looked_up_at": at,
        "stale_since": stale and min(stale, pool.stale_since or stale),
        "next_at": clock(reading.next_at["wake"]),
        "next_srv_at": clock(reading.next_at["srv"]),
        "next_v6_at": clock(reading.next_at["v6"]),
        "next_v4_at": clock(reading.next_at["v4"]),
        "waiting": len(verdict.waits),
        "waiting_since": (pool.waiting_since or at) if verdict.waits else None,
        "steps": shown_steps(reading.steps, reading.at),
    }
    if reading.state != pool.state:
        values["state_since"] = at
    return values


def _note_state(pool: Pool, reading: Reading) -> None:
    if reading.state == pool.state:
        return
    if reading.state == Pool.State.FAILED:
        note(pool, Kind.FAILED, detail=reading.error or "")
    elif reading.state == Pool.State.RUNNING:
        note(pool, Kind.RUNNING)


def _note_stale(pool: Pool, reading: Reading) -> None:
    if reading.stale_since is not None and pool.stale_since is None:
        note(pool, Kind.STALE, detail=reading.error or "")
    elif reading.stale_since is None and pool.stale_since is not None:
        note(pool, Kind.FRESH)


def _note_doubt(pool: Pool, verdict: Verdict) -> None:
    if verdict.waits and not pool.waiting:
        detail = f"{len(verdict.waits)} backends vanished at once: a second look-up must confirm it"
        note(pool, Kind.WAITING, detail=detail)
    elif pool.waiting and not verdict.waits:
        confirmed = f"{len(verdict.removed)} confirmed" if verdict.removed else "they are back"
        note(pool, Kind.SETTLED, detail=confirmed)


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
