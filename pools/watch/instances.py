"""Turn backends into instances, in the transaction that writes the observations."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.instances import availability
from allocation.instances.holds import may_remove
from allocation.instances.roster import make_available_together
from allocation.models import Instance
from allocation.placement import drains
from atributo_site.core.leases import HeldLease
from pools import timeline
from pools.address_policy import refused_target
from pools.logic.backends import Backend as DnsBackend
from pools.models import Backend, BackendChange, Pool
from pools.models.backend import instance_id
from pools.timeline import Line, note

DNS = Instance.Source.DNS
GONE, PRESENT, REFUSED = Backend.State.GONE, Backend.State.PRESENT, Backend.State.REFUSED
Kind = BackendChange.Kind
SEEN = [
    "name",
    "address",
    "port",
    "priority",
    "weight",
    "state",
    "state_since",
    "last_seen_at",
    "instance_id",
]


def add(arrived: Sequence[tuple[Pool, DnsBackend]]) -> None:
    """Make the instances of new backends available, unless a person or a rule says no."""
    if not arrived:
        return
    before = _rows_before(arrived)
    rows = [_row(pool, backend, before.get((pool.pk, backend.key))) for pool, backend in arrived]
    Backend.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["pool", "key"], update_fields=SEEN
    )
    timeline.write([_arrival(row, (row.pool_id, row.key) in before) for row in rows])
    ready = Backend.Administrative.READY
    _make_available([row for row in rows if row.state == PRESENT and row.administrative == ready])


def remove(pool: Pool, keys: Collection[str]) -> None:
    """Drain the instances of backends that left DNS; they are never destroyed."""
    rows = list(pool.backends.present().filter(key__in=keys).order_by("key")) if keys else []
    if not rows:
        return
    Backend.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=GONE, state_since=Now(), last_seen_at=pool.looked_up_at or Now()
    )
    timeline.write([Line(pool, Kind.GONE, row) for row in rows])
    for row in rows:
        if row.state == PRESENT and not _is_elsewhere(row):
            _drain(pool, row)


def update_weights(pool: Pool, backends: Sequence[DnsBackend]) -> None:
    """Store another priority or weight of known backends."""
    for each in backends:
        pool.backends.filter(key=each.key).update(priority=each.priority, weight=each.weight)


def drain_again(backend: Backend, lease: HeldLease) -> bool:
    with atomic():
        lease.guard()
        if _is_elsewhere(backend):
            return False
        note(backend.pool, Kind.KEPT, backend, "restored, but not in DNS: it drains again")
        _drain(backend.pool, backend)
        return True


def forget(backend: Backend, lease: HeldLease) -> bool:
    """Remove a gone backend and its instance, unless jobs, holds or a person keep it."""
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


def _rows_before(arrived: Sequence[tuple[Pool, DnsBackend]]) -> dict[tuple[int, str], Backend]:
    pools = {pool.pk for pool, _ in arrived}
    keys = {backend.key for _, backend in arrived}
    rows = Backend.objects.filter(pool__in=pools, key__in=keys)
    return {(row.pool_id, row.key): row for row in rows}


def _row(pool: Pool, backend: DnsBackend, before: Backend | None) -> Backend:
    row = before or Backend(key=backend.key)
    row.pool = pool
    row.name, row.address, row.port = backend.name, backend.address, backend.port
    row.priority, row.weight = backend.priority, backend.weight
    row.state = REFUSED if refused_target(backend.address, backend.port) else PRESENT
    row.state_since = row.last_seen_at = Now()
    row.instance_id = instance_id(backend.address, backend.port)
    return row


def _arrival(row: Backend, was_known: bool) -> Line:
    if row.state == REFUSED:
        return Line(row.pool, Kind.REFUSED, row, refused_target(row.address, row.port))
    return Line(row.pool, Kind.RETURNED if was_known else Kind.ADDED, row)


def _make_available(rows: Sequence[Backend]) -> None:
    """Make new instances available together, and known ones by their own rules."""
    first = {row.instance_id: row for row in reversed(rows)}
    wanted = {
        pk: {"reason": _reason(row), "labels": _labels(row)} for pk, row in sorted(first.items())
    }
    new = make_available_together(wanted, source=DNS)
    for row in rows:
        if row.instance_id not in new or first[row.instance_id] is not row:
            _make_known_available(row)


def _make_known_available(row: Backend) -> None:
    known = Instance.objects.filter(pk=row.instance_id).values_list("labels", flat=True)
    labels = {**(known.first() or {}), **_labels(row)}
    if not availability.make_available(
        row.instance_id, source=DNS, reason=_reason(row), labels=labels
    ):
        note(row.pool, Kind.KEPT, row, "a person has made the instance unavailable")


def _labels(row: Backend) -> dict[str, Any]:
    return {"pool": row.pool.name, "name": row.name, "address": row.address, "port": row.port}


def _reason(row: Backend) -> str:
    return f"in DNS as {row.name}"[:255]


def _drain(pool: Pool, backend: Backend) -> None:
    instance = Instance.objects.filter(pk=backend.instance_id).first()
    if instance is None or not instance.available:  # somebody made it unavailable on purpose
        return
    if not drains.drain(backend.instance_id, source=DNS, reason=f"left DNS, pool {pool.name}"):
        note(pool, Kind.KEPT, backend, "a person has made the instance available")


def _is_elsewhere(backend: Backend) -> bool:
    """Return True if the same address and port is known under another name."""
    others = Backend.objects.filter(instance_id=backend.instance_id, state=PRESENT)
    return others.exclude(pk=backend.pk).exists()


def _may_go(instance: Instance) -> bool:
    """Check the source and the holds; the removal itself checks the epoch seen here."""
    return instance.source == DNS and may_remove(instance.pk).may
