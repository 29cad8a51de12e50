"""What a person decides about one backend: ready, drain or maintenance."""

from contextlib import suppress

from django.db.transaction import atomic

from allocation import availability, drains
from allocation.errors import UnknownInstance
from allocation.events import current_actor
from pools.changes import note
from pools.configure import pool_named
from pools.errors import UnknownBackend
from pools.models import Backend, BackendChange, Pool

READY, DRAIN = Backend.Administrative.READY, Backend.Administrative.DRAIN


def administer(name: str, key: str, administrative: str, reason: str = "") -> Backend:
    """Drain lets the jobs leave, maintenance leaves them where they are, ready ends both."""
    pool = pool_named(name)
    with atomic():
        rows = Backend.objects.filter(pool=pool, key=key)
        changed = rows.exclude(administrative=administrative, reason=reason).update(
            administrative=administrative,
            administrative_by=current_actor().name,
            reason=reason,
        )
        backend = rows.first()
        if backend is None:
            raise UnknownBackend(f"pool {name} has no backend {key}", pool=name, backend=key)
        if changed:
            _carry_out(pool, backend)
    return backend


def still_held(backend: Backend) -> str:
    """Who says «ready» is told where the same instance is in drain or maintenance all the same."""
    if backend.administrative != READY:
        return ""
    same = Backend.objects.filter(instance_id=backend.instance_id).exclude(administrative=READY)
    other = same.select_related("pool").first()
    return f"Under {other.pool.name} it is in {other.administrative} and stays so." if other else ""


def _carry_out(pool: Pool, backend: Backend) -> None:
    said = f"{backend.administrative}: {backend.reason}" if backend.reason else ""
    note(pool, BackendChange.Kind.ADMINISTERED, backend, said or backend.administrative)
    if still_held(backend):
        return
    with suppress(UnknownInstance):  # a person has removed it: there is nobody to tell
        _tell_instance(backend)


def _tell_instance(backend: Backend) -> None:
    reason = backend.reason or f"{backend.administrative} by {backend.administrative_by}"
    if backend.administrative == DRAIN:
        drains.drain(backend.instance_id, reason=reason)
    elif backend.administrative != READY:
        availability.make_unavailable(backend.instance_id, reason=reason)
    else:
        availability.restore(backend.instance_id)
        present = Backend.objects.filter(state=Backend.State.PRESENT)
        if not present.filter(instance_id=backend.instance_id).exists():  # DNS says no
            drains.drain(backend.instance_id, reason="not in DNS", source="dns")
