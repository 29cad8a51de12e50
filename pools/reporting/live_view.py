"""Combine the snapshots of all processes: per process, per pool, per backend."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pools.models import PoolSnapshot
from pools.models.backend import instance_id
from pools.net.runtime.monitor import SERVICE, TYPES, VERSION

MOST_PROCESSES = 200
MOST_SLOTS = 200
MOST_SAID = 200


@dataclass
class LiveBackend:
    """Count connections by state over all processes; say why a process takes it for dead."""

    connections: Counter[str] = field(default_factory=Counter)
    why_dead: list[str] = field(default_factory=list)


def reports() -> list[PoolSnapshot]:
    return list(PoolSnapshot.objects.order_by("process")[:MOST_PROCESSES])


def live_pools(reports: list[PoolSnapshot], now: datetime) -> list[dict[str, Any]]:
    """Return every pool of every reporting process, with the age of the report."""
    return [
        {
            "process": report.process,
            "age_seconds": age(report, now),
            "id": key,
            **pool,
            "sums": dict(_sums(pool)),
            "slots": _slots(pool),
        }
        for report in reports
        for key, pool in _pools(report)
    ]


def live_backends(reports: list[PoolSnapshot]) -> dict[str, LiveBackend]:
    """Return backend key → what the pools of all processes say of it."""
    live: dict[str, LiveBackend] = defaultdict(LiveBackend)
    for report in reports:
        for _, pool in _pools(report):
            for key, states in states_of(pool).items():
                live[key].connections.update(states)
            for key, why in pool.get("why_dead", {}).items():
                live[key].why_dead.append(f"{report.process}: {why}")
    return dict(live)


def dead_backends(reports: list[PoolSnapshot]) -> list[dict[str, Any]]:
    """Return domains whose pools take backends for dead, with the reason of one process."""
    pools: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    for report in reports:
        for _, pool in _pools(report):
            pools[pool.get("options", {}).get("domain", "?")].append((report.process, pool))
    return [
        _dead_of(domain, each)
        for domain, each in sorted(pools.items())
        if any(pool.get("why_dead") for _, pool in each)
    ]


def with_live(backends: Iterable[Any]) -> list[Any]:
    """Give each backend `connections` and `why_dead`, as all reporting processes see it."""
    live = live_backends(list(PoolSnapshot.objects.fresh()[:MOST_PROCESSES]))
    rows = list(backends)
    for backend in rows:
        view = live.get(backend.key, LiveBackend())
        backend.connections, backend.why_dead = dict(view.connections), view.why_dead
    return rows


def kang_snapshot(reports: list[PoolSnapshot], now: datetime) -> dict[str, Any]:
    """Return one snapshot in the shape of kang; ids include the process."""
    joined: dict[str, Any] = {kind: {} for kind in TYPES}
    for report in reports:
        for kind in joined:
            for key, value in report.body.get(kind, {}).items():
                about = {"process": report.process, "age_seconds": age(report, now)}
                joined[kind][f"{report.process}/{key}"] = {**value, **about}
    return {
        "service": {"name": SERVICE, "ident": "atributo", "version": VERSION},
        "stats": {"processes": {report.process: age(report, now) for report in reports}},
        "types": list(joined),
        **joined,
    }


def age(report: PoolSnapshot, now: datetime) -> float:
    return round(max(0.0, (now - report.at).total_seconds()), 3)


def _pools(report: PoolSnapshot) -> list[tuple[str, dict[str, Any]]]:
    """Return pools and sets of shared connections."""
    return [each for kind in ("pool", "set") for each in report.body.get(kind, {}).items()]


def _dead_of(domain: str, reports: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    pools = [pool for _, pool in reports]
    dead = {key for pool in pools for key in pool.get("why_dead", {})}
    known = {key for pool in pools for key in pool.get("backends", {})}
    process, pool = next(each for each in reports if each[1].get("why_dead"))
    key, why = next(iter(pool["why_dead"].items()))
    return {
        "domain": domain,
        "dead": len(dead),
        "known": len(dead | known),
        "failed": any(pool.get("state") == "failed" for pool in pools),
        "why": f"{_address(pool, key)} in {process}: {why}"[:MOST_SAID],
    }


def _address(pool: dict[str, Any], key: str) -> str:
    backend = pool.get("backends", {}).get(key)
    return instance_id(backend["address"], backend["port"]) if backend else key


def _slots(pool: dict[str, Any]) -> list[str]:
    """Return one word for each possible connection of the pool: what it does, or free."""
    states = [word for word, count in sorted(_sums(pool).items()) for _ in range(count)]
    maximum = pool.get("options", {}).get("maximum", 0)
    return [*states, *["free"] * (maximum - len(states))][:MOST_SLOTS]


def _sums(pool: dict[str, Any]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for states in states_of(pool).values():
        sums.update(states)
    return sums


def states_of(pool: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Return backend key → state → connections; a set lists the keys of its connections apart."""
    states: dict[str, dict[str, int]] = pool.get("fsms") or pool.get("connections", {})
    return states
