"""Write lines of the timelines of pools and the events that tell everybody."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allocation.events import current_actor, record_many
from pools.models import Backend, BackendChange, Pool


@dataclass(frozen=True)
class Line:
    """What happened to a pool, or to one of its backends."""

    pool: Pool
    kind: str
    backend: Backend | None = None
    detail: str = ""


def note(pool: Pool, kind: str, backend: Backend | None = None, detail: str = "") -> None:
    write([Line(pool, kind, backend, detail)])


def write(lines: Sequence[Line]) -> None:
    """Two statements for all of them, inside the transaction of the changes themselves."""
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
