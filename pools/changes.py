"""Write one line of a pool's timeline and the event that tells everybody."""

from typing import Any

from allocation.events import current_actor, record
from pools.models import Backend, BackendChange, Pool


def note(pool: Pool, kind: str, backend: Backend | None = None, detail: str = "") -> None:
    """Inside the transaction of the change itself."""
    BackendChange.objects.create(
        pool=pool,
        kind=kind,
        key=backend.key if backend else "",
        backend=f"{backend.name} {backend.instance_id}" if backend else "",
        detail=detail[:1000],
        actor=current_actor().name,
    )
    noun = "backend" if backend else "pool"
    record(f"{noun}.{kind}", f"pool:{pool.name}", **_facts(backend, detail))


def _facts(backend: Backend | None, detail: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"detail": detail[:300]} if detail else {}
    if backend is None:
        return facts
    return {"instance": backend.instance_id, "name": backend.name, "backend": backend.key, **facts}
