"""Write the timelines of pools with their events, and read the last day of each backend."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from atributo_site.core.events import current_actor, record_many
from pools.logic.state_spans import Stretch, share_of, stretches
from pools.models import Backend, BackendChange, Pool

DAY = timedelta(hours=24)
MOST_CHANGES = 2000
BECAME = {
    BackendChange.Kind.ADDED: Backend.State.PRESENT,
    BackendChange.Kind.RETURNED: Backend.State.PRESENT,
    BackendChange.Kind.GONE: Backend.State.GONE,
    BackendChange.Kind.REFUSED: Backend.State.REFUSED,
}


@dataclass(frozen=True)
class Line:
    """Describe what happened to a pool or to one of its backends."""

    pool: Pool
    kind: str
    backend: Backend | None = None
    detail: str = ""


def note(pool: Pool, kind: str, backend: Backend | None = None, detail: str = "") -> None:
    write([Line(pool, kind, backend, detail)])


def write(lines: Sequence[Line]) -> None:
    """Use two statements for all lines, in the transaction of the changes themselves."""
    if lines:
        BackendChange.objects.bulk_create([_row(line) for line in lines])
        record_many([_event(line) for line in lines])


def _row(line: Line) -> BackendChange:
    backend = line.backend
    return BackendChange(
        pool=line.pool,
        kind=line.kind,
        key=backend.key if backend else "",
        backend=f"{backend.name} {backend.instance_id}" if backend else "",
        detail=line.detail[:1000],
        actor=current_actor().name,
    )


def _event(line: Line) -> tuple[str, str, dict[str, Any]]:
    noun = "backend" if line.backend else "pool"
    return f"{noun}.{line.kind}", f"pool:{line.pool.name}", _facts(line.backend, line.detail)


def _facts(backend: Backend | None, detail: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"detail": detail[:300]} if detail else {}
    if backend is None:
        return facts
    return {"instance": backend.instance_id, "name": backend.name, "backend": backend.key, **facts}


@dataclass(frozen=True)
class History:
    """`stretches` fill the last day from its begin to now."""

    stretches: Sequence[Stretch]
    changes: int

    @property
    def share_gone(self) -> float:
        return share_of(self.stretches, Backend.State.GONE)


def with_history(backends: Iterable[Any], now: datetime) -> list[Any]:
    """Give each backend its `history`, by one query for all of them."""
    rows = list(backends)
    changes = _changes(rows, now - DAY)
    for row in rows:
        known = changes[row.pool_id, row.key]
        row.history = History(
            stretches(known, row.state, row.first_seen_at, now, DAY), max(0, len(known))
        )
    return rows


def _changes(rows: list[Any], since: datetime) -> dict[tuple[int, str], list[tuple[Any, str]]]:
    by_backend: dict[tuple[int, str], list[tuple[Any, str]]] = defaultdict(list)
    changes = BackendChange.objects.filter(
        pool__in={row.pool_id for row in rows},
        key__in=[row.key for row in rows],
        kind__in=list(BECAME),
        at__gte=since,
    ).order_by("-id")
    for pool, key, at, kind in changes.values_list("pool_id", "key", "at", "kind")[:MOST_CHANGES]:
        by_backend[pool, key].insert(0, (at, BECAME[BackendChange.Kind(kind)]))
    return by_backend
