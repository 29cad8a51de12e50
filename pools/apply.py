"""From what DNS says to instances: one short transaction for each backend that changes."""

from typing import Any

from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation import availability, drains
from allocation.holds import may_remove
from allocation.leases import HeldLease
from allocation.models import Instance
from pools.changes import note
from pools.logic.backends import Backend as Found
from pools.models import Backend, BackendChange, Pool
from pools.models.backend import instance_id
from pools.permitted import refused_target

DNS = Instance.Source.DNS
GONE, PRESENT, REFUSED = Backend.State.GONE, Backend.State.PRESENT, Backend.State.REFUSED
Kind = BackendChange.Kind


def add(pool: Pool, found: Found, lease: HeldLease) -> None:
    """The backend is in DNS: its instance is available, unless a person or a rule says no."""
    refusal = refused_target(found.address, found.port)
    with atomic():
        lease.guard()
        backend, is_new = _row(pool, found, REFUSED if refusal else PRESENT)
        if refusal:
            note(pool, Kind.REFUSED, backend, refusal)
            return
        note(pool, Kind.ADDED if is_new else Kind.RETURNED, backend)
        if backend.administrative == Backend.Administrative.READY and not _admit(pool, backend):
            note(pool, Kind.KEPT, backend, "a person has made the instance unavailable")


def remove(pool: Pool, key: str, lease: HeldLease) -> None:
    """The backend has left DNS: its instance drains and is never destroyed."""
    with atomic():
        lease.guard()
        rows = Backend.objects.filter(pool=pool, key=key)
        backend = rows.first()
        if backend is None or not rows.present().update(
            state=GONE, state_since=Now(), last_seen_at=pool.looked_up_at or Now()
        ):
            return
        note(pool, Kind.GONE, backend)
        if backend.state == PRESENT and not _is_elsewhere(backend):
            _drain(pool, backend)


def drain_again(backend: Backend, lease: HeldLease) -> bool:
    with atomic():
        lease.guard()
        if _is_elsewhere(backend):
            return False
        note(backend.pool, Kind.KEPT, backend, "restored, but not in DNS: it drains again")
        _drain(backend.pool, backend)
        return True


def forget(backend: Backend, lease: HeldLease) -> bool:
    """Gone for good: remove its instance unless jobs, holds or a person keep it."""
    with atomic():
        lease.guard()
        instance = Instance.objects.filter(pk=backend.instance_id).first()
        if instance is not None and not _is_elsewhere(backend):
            if not _may_go(instance):
                return False
            availability.remove(backend.instance_id, epoch=instance.epoch)
        if not Backend.objects.gone().filter(pk=backend.pk).delete()[0]:
            return False
        note(backend.pool, Kind.REMOVED, backend)
        return True


def _row(pool: Pool, found: Found, state: str) -> tuple[Backend, bool]:
    values: dict[str, Any] = {
        "name": found.name,
        "address": found.address,
        "port": found.port,
        "priority": found.priority,
        "weight": found.weight,
        "state": state,
        "state_since": Now(),
        "last_seen_at": Now(),
        "instance_id": instance_id(found.address, found.port),
    }
    backend, is_new = Backend.objects.update_or_create(pool=pool, key=found.key, defaults=values)
    return backend, is_new


def _admit(pool: Pool, backend: Backend) -> bool:
    known = Instance.objects.filter(pk=backend.instance_id).values_list("labels", flat=True)
    labels = {
        **(known.first() or {}),
        "pool": pool.name,
        "name": backend.name,
        "address": backend.address,
        "port": backend.port,
    }
    reason = f"in DNS as {backend.name}"[:255]
    return availability.make_available(
        backend.instance_id, source=DNS, reason=reason, labels=labels
    )


def _drain(pool: Pool, backend: Backend) -> None:
    instance = Instance.objects.filter(pk=backend.instance_id).first()
    if instance is None or not instance.available:  # whoever made it unavailable had a plan
        return
    if not drains.drain(backend.instance_id, source=DNS, reason=f"left DNS, pool {pool.name}"):
        note(pool, Kind.KEPT, backend, "a person has made the instance available")


def _is_elsewhere(backend: Backend) -> bool:
    """The same address and port may be known under another name."""
    others = Backend.objects.filter(instance_id=backend.instance_id, state=PRESENT)
    return others.exclude(pk=backend.pk).exists()


def _may_go(instance: Instance) -> bool:
    """Availability is read again by the removal itself, which names the epoch seen here."""
    return instance.source == DNS and may_remove(instance.pk).may
