"""Change watched names and their backends: watch, change, ask, forget, drain, maintain."""

from contextlib import suppress
from typing import Any

from django.db import IntegrityError
from django.db.models import F, Q
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.errors import UnknownInstance
from allocation.instances import availability
from allocation.placement import drains
from atributo_site.core.events import current_actor, record
from atributo_site.core.models.clock import database_now, from_now
from pools.errors import (
    AskedTooOften,
    PoolChanged,
    PoolExists,
    PoolPaused,
    UnknownBackend,
    UnknownPool,
)
from pools.models import Backend, BackendChange, Pool
from pools.timeline import note

SETTINGS = (
    "domain",
    "service",
    "default_port",
    "nameservers",
    "recovery",
    "ttl_floor_ms",
    "ttl_ceiling_ms",
    "removal_share",
    "grace_seconds",
    "is_watched",
)
READY, DRAIN = Backend.Administrative.READY, Backend.Administrative.DRAIN


def pool_named(name: str) -> Pool:
    pool = Pool.objects.filter(name=name).first()
    if pool is None:
        raise UnknownPool(f"there is no pool named {name}", pool=name)
    return pool


def watch(name: str, **settings: Any) -> Pool:
    """Watch a new name; raise ValidationError for settings that cannot work."""
    pool = Pool(name=name, **settings)
    pool.full_clean(validate_unique=False, validate_constraints=False)
    try:
        with atomic():
            pool.save(force_insert=True)
            record("pool.watched", f"pool:{name}", domain=pool.domain, service=pool.service)
    except IntegrityError as error:
        raise PoolExists(f"a pool named {name} already exists", pool=name) from error
    return pool_named(name)


def change(name: str, epoch: int | None = None, **settings: Any) -> Pool:
    """Change settings, with which the watcher starts anew; refuse if they changed since `epoch`."""
    pool = pool_named(name)
    changed = {key: value for key, value in settings.items() if getattr(pool, key) != value}
    for key, value in changed.items():
        setattr(pool, key, value)
    pool.full_clean(validate_unique=False, validate_constraints=False)
    expected = pool.epoch if epoch is None else epoch
    with atomic():
        rows = Pool.objects.filter(pk=pool.pk, epoch=expected)
        if not rows.update(epoch=F("epoch") + int(bool(changed)), **changed):
            raise PoolChanged(f"pool {name} is not at epoch {expected}: look again")
        if changed:
            record("pool.changed", f"pool:{name}", **changed)
    return pool_named(name)


def forget(name: str, epoch: int | None = None) -> None:
    """Stop watching it; its instances stay as they are, and people decide about them."""
    pool = pool_named(name)
    with atomic():
        if epoch is not None and not Pool.objects.filter(pk=pool.pk, epoch=epoch).update(epoch=0):
            raise PoolChanged(f"pool {name} is not at epoch {epoch}: look again")
        instances = list(pool.backends.present().values_list("instance_id", flat=True)[:100])
        pool.delete()
        record("pool.forgotten", f"pool:{name}", instances=instances)


def ask_now(name: str) -> Pool:
    """Let the watcher look again at once, but no more often than the name's TTL floor."""
    pool = pool_named(name)
    if not pool.is_watched:
        raise PoolPaused(f"{name} is paused: resume it to look it up", pool=name)
    since = from_now(-pool.ttl_floor_ms / 1000)
    with atomic():
        free = Q(asked_at__isnull=True) | Q(asked_at__lte=since)
        idle = Q(looked_up_at__isnull=True) | Q(looked_up_at__lte=since)
        if not Pool.objects.filter(free, idle, pk=pool.pk).update(asked_at=Now()):
            wait = _wait_seconds(pool)
            sentence = f"{name} was just looked up: try again in {wait}s"
            raise AskedTooOften(sentence, retry_after_seconds=wait)
        record("pool.asked", f"pool:{name}")
    return pool_named(name)


def _wait_seconds(pool: Pool) -> int:
    moments = [moment for moment in (pool.asked_at, pool.looked_up_at) if moment is not None]
    age = (database_now() - max(moments, default=pool.created_at)).total_seconds()
    return max(1, round(pool.ttl_floor_ms / 1000 - age))


def administer(name: str, key: str, administrative: str, reason: str = "") -> Backend:
    """Set ready, drain (the jobs leave) or maintenance (the jobs stay where they are)."""
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
    """Name another pool that keeps the instance of a ready backend in drain or maintenance."""
    if backend.administrative != READY:
        return ""
    same = Backend.objects.filter(instance_id=backend.instance_id).exclude(administrative=READY)
    other = same.select_related("pool").first()
    return f"Under {other.pool.name} it is in {other.administrative} and stays so." if other else ""


def _carry_out(pool: Pool, backend: Backend) -> None:
    detail = f"{backend.administrative}: {backend.reason}" if backend.reason else ""
    note(pool, BackendChange.Kind.ADMINISTERED, backend, detail or backend.administrative)
    if still_held(backend):
        return
    with suppress(UnknownInstance):  # a person has removed the instance
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
        if not present.filter(instance_id=backend.instance_id).exists():  # DNS does not know it
            drains.drain(backend.instance_id, reason="not in DNS", source="dns")
