"""What people decide about watched names: watch one, change how, ask now, forget it."""

from typing import Any

from django.db import IntegrityError
from django.db.models import F, Q
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.events import record
from allocation.models.clock import database_now, from_now
from pools.errors import AskedTooOften, PoolChanged, PoolExists, PoolPaused, UnknownPool
from pools.models import Pool

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


def pool_named(name: str) -> Pool:
    found = Pool.objects.filter(name=name).first()
    if found is None:
        raise UnknownPool(f"no pool is called {name}", pool=name)
    return found


def watch(name: str, **settings: Any) -> Pool:
    """A new watched name; ValidationError for settings that cannot work."""
    pool = Pool(name=name, **settings)
    pool.full_clean(validate_unique=False, validate_constraints=False)
    try:
        with atomic():
            pool.save(force_insert=True)
            record("pool.watched", f"pool:{name}", domain=pool.domain, service=pool.service)
    except IntegrityError as error:
        raise PoolExists(f"a pool called {name} exists already", pool=name) from error
    return pool_named(name)


def change(name: str, epoch: int | None = None, **settings: Any) -> Pool:
    """The watcher starts anew with what has changed; refused if it changed since `epoch`."""
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
    """Watch it no longer; its instances stay as they are, and people decide about them."""
    pool = pool_named(name)
    with atomic():
        if epoch is not None and not Pool.objects.filter(pk=pool.pk, epoch=epoch).update(epoch=0):
            raise PoolChanged(f"pool {name} is not at epoch {epoch}: look again")
        instances = list(pool.backends.present().values_list("instance_id", flat=True)[:100])
        pool.delete()
        record("pool.forgotten", f"pool:{name}", instances=instances)


def ask_now(name: str) -> Pool:
    """Let the watcher look again at once; no more often than the name's TTL floor."""
    pool = pool_named(name)
    if not pool.is_watched:
        raise PoolPaused(f"{name} is paused: resume it to have it looked up", pool=name)
    since = from_now(-pool.ttl_floor_ms / 1000)
    with atomic():
        free = Q(asked_at__isnull=True) | Q(asked_at__lte=since)
        idle = Q(looked_up_at__isnull=True) | Q(looked_up_at__lte=since)
        if not Pool.objects.filter(free, idle, pk=pool.pk).update(asked_at=Now()):
            wait = _wait_seconds(pool)
            said = f"{name} was looked up a moment ago: ask again in {wait} s"
            raise AskedTooOften(said, retry_after_seconds=wait)
        record("pool.asked", f"pool:{name}")
    return pool_named(name)


def _wait_seconds(pool: Pool) -> int:
    moments = [moment for moment in (pool.asked_at, pool.looked_up_at) if moment is not None]
    age = (database_now() - max(moments, default=pool.created_at)).total_seconds()
    return max(1, round(pool.ttl_floor_ms / 1000 - age))
