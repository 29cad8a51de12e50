"""Make instances available or unavailable for a person, for DNS or for the instance itself."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from allocation.errors import Outranked
from allocation.instances import roster
from allocation.instances.validation import check_request, check_settings
from allocation.models import Allocation, Drain, Instance, InstanceLoad
from allocation.storage import Deallocation, store
from allocation.storage.base import bucket
from allocation.storage.locks import roster_lock
from atributo_site.core.events import current_actor, record
from atributo_site.core.models.clock import from_now
from atributo_site.core.retry import retry_busy

MANUAL = Instance.Source.MANUAL
RANK = {Instance.Source.MANUAL: 1, Instance.Source.DNS: 0, Instance.Source.WORKER: 0}
RESTORED_SECONDS = 30
PIECE = 250  # jobs to drop while allocators wait
LOOKED_AT = 8  # pieces from which those of the same buckets are taken


def make_available(
    instance_id: str,
    *,
    source: str = MANUAL,
    lease_seconds: float | None = None,
    reason: str = "",
    epoch: int | None = None,
    using: str = "default",
    **settings: Any,
) -> bool:
    """Return True if it is available now, False if a person decided otherwise."""
    check_request(source=source, reason=reason, lease_seconds=lease_seconds, **settings)
    row = Instance.objects.using(using).filter(pk=instance_id).first()
    if row is None or epoch is not None or not _is_settled(row, True, source, settings):
        with roster_lock(using):
            if not _make_available(instance_id, source, reason, epoch, settings, using):
                return False
    if lease_seconds is not None:
        Instance.objects.using(using).filter(pk=instance_id).update(
            lease_until=from_now(lease_seconds)
        )
    return True


def register(instance_id: str, *, using: str = "default", **wish: Any) -> bool:
    """Make it available, as `make_available` does; return True if it was unknown before."""
    rows = Instance.objects.using(using).filter(pk=instance_id)
    if rows.exists():
        make_available(instance_id, using=using, **wish)
        return False
    with roster_lock(using):
        is_new = not rows.exists()
        make_available(instance_id, using=using, **wish)
    return is_new


def make_unavailable(
    instance_id: str,
    *,
    source: str = MANUAL,
    reason: str = "",
    epoch: int | None = None,
    using: str = "default",
) -> bool:
    """Return True if nothing is allocated to it any more, False if a person decided otherwise."""
    check_request(source=source, reason=reason)
    if source != MANUAL and epoch is None:  # automation repeats itself, a person waits
        row = Instance.objects.using(using).filter(pk=instance_id).first()
        if row is not None and _is_settled(row, False, source, {}):
            return True
    with roster_lock(using):
        row = _row(instance_id, source, using)
        roster.check_epoch(row, epoch)
        if is_outranked(row, False, source):
            return False
        if not _is_settled(row, False, source, {}):
            switch_off(row, source, reason, using)
    return True


def remove(
    instance_id: str, *, reason: str = "", epoch: int | None = None, using: str = "default"
) -> int:
    """Remove the instance and drop its jobs; return how many. It need not be known."""
    check_request(reason=reason)
    dropped = 0
    rows = Instance.objects.using(using).filter(pk=instance_id)
    if load_of(instance_id, using) > PIECE:
        make_unavailable(instance_id, reason="to be removed", epoch=epoch, using=using)
        epoch = None
        piece = partial(_drop_jobs, instance_id, PIECE, using)
        while gone := retry_busy(piece, using):
            dropped += gone
    with roster_lock(using):
        row = rows.first()
        if row is None:
            return dropped
        roster.check_epoch(row, epoch)
        dropped += _drop_jobs(instance_id, None, using)
        number = roster.next_epoch(using)
        rows.delete()
        roster.announce(using)
        record(
            "instance.removed",
            f"instance:{instance_id}",
            using=using,
            epoch=number,
            reason=reason,
            jobs_dropped=dropped,
            was_available=row.available,
            weight=row.weight,
        )
    return dropped


def restore(
    instance_id: str,
    *,
    source: str = MANUAL,
    reason: str = "",
    epoch: int | None = None,
    using: str = "default",
) -> None:
    """Make it available again; whoever registered it decides from now on."""
    check_request(source=source, reason=reason)
    with roster_lock(using):
        row = roster.locked(instance_id, using, epoch)
        check_rank(row, source)
        Drain.objects.using(using).filter(pk=instance_id).delete()
        if row.available and row.source == row.origin:
            return
        roster.change(
            row,
            "instance.restored",
            using,
            facts={"source": row.origin, "reason": reason, "was_available": row.available},
            available=True,
            is_dead=False,
            source=row.origin,
            reason=reason,
            lease_until=_new_lease(row),
        )


def heartbeat(instance_id: str, seconds: float, using: str = "default") -> bool:
    """Keep an available instance alive; return False if it is not available (any more)."""
    check_request(lease_seconds=seconds)
    rows = Instance.objects.using(using).filter(pk=instance_id, available=True)
    return rows.update(lease_until=from_now(seconds)) == 1


def configure(
    instance_id: str, *, epoch: int | None = None, using: str = "default", **settings: Any
) -> None:
    """Change weight, capacity or labels."""
    check_settings(settings)
    with roster_lock(using):
        row = roster.locked(instance_id, using, epoch)
        if not _differs(row, settings):
            return
        if settings.get("capacity") is not None:
            _one_counter(instance_id, using)
        facts = {**_was(row, settings), **settings}
        roster.change(row, "instance.changed", using, facts=facts, **settings)


def load_of(instance_id: str, using: str = "default") -> int:
    parts = InstanceLoad.objects.using(using).filter(instance_id=instance_id)
    return sum(parts.values_list("jobs", flat=True))


def _new_lease(row: Instance) -> Any:
    """Return the next end of the lease: an instance with a heartbeat must send it again."""
    return None if row.lease_until is None else from_now(RESTORED_SECONDS)


def _make_available(
    instance_id: str,
    source: str,
    reason: str,
    epoch: int | None,
    settings: Mapping[str, Any],
    using: str,
) -> bool:
    row = _row(instance_id, source, using)
    roster.check_epoch(row, epoch)
    if is_outranked(row, True, source):
        return False
    if _is_settled(row, True, source, settings):
        return True
    if settings.get("capacity") is not None:
        _one_counter(instance_id, using)
    if settings.get("capacity", row.capacity) is None:
        store(using).make_counters([instance_id])
    Drain.objects.using(using).filter(pk=instance_id).delete()
    values = {**settings, "available": True, "source": _owner(row, True, source)}
    roster.change(
        row,
        "instance.available",
        using,
        facts={"source": source, "reason": reason, **_was(row, settings), **settings},
        is_dead=False,
        lease_until=None,
        reason=reason,
        **values,
    )
    return True


def switch_off(
    row: Instance, source: str, reason: str, using: str, kind: str = "instance.unavailable"
) -> None:
    """Make it unavailable; the caller holds the roster lock."""
    roster.change(
        row,
        kind,
        using,
        facts={"source": source, "reason": reason, "was_available": row.available},
        available=False,
        is_dead=False,
        source=_owner(row, False, source),
        reason=reason,
    )


def _row(instance_id: str, source: str, using: str) -> Instance:
    """Return the instance; register it as unavailable if it is unknown."""
    row, _ = Instance.objects.using(using).get_or_create(
        pk=instance_id, defaults={"source": source, "origin": source}
    )
    return row


def _is_settled(row: Instance, available: bool, source: str, settings: Mapping[str, Any]) -> bool:
    """Return whether the row has the requested state already."""
    return (
        row.epoch > 0
        and row.available == available
        and RANK[Instance.Source(row.source)] >= RANK[Instance.Source(source)]
        and not (row.is_dead and source == MANUAL)  # nobody decided that it died
        and not _differs(row, settings)
    )


def is_outranked(row: Instance, available: bool, source: str) -> bool:
    """Return whether a person decided otherwise, which automation does not undo.

    Nobody decided that an instance died.
    """
    decided = row.epoch > 0 and not row.is_dead
    return decided and row.available != available and ranks_below(source, row)


def ranks_below(source: str, row: Instance) -> bool:
    """Return whether the last decision was made by somebody of a higher rank."""
    return RANK[Instance.Source(source)] < RANK[Instance.Source(row.source)]


def check_rank(row: Instance, source: str) -> None:
    """Refuse a program what would undo a person's decision."""
    if row.epoch > 0 and not row.is_dead and ranks_below(source, row):
        raise Outranked(f"a person decided about {row.pk}; a program does not undo that")


def _owner(row: Instance, available: bool, source: str) -> str:
    """Return whose decision it is now: the higher rank keeps it if both want the same."""
    same = row.epoch > 0 and row.available == available
    return row.source if same and ranks_below(source, row) else source


def _differs(row: Instance, settings: Mapping[str, Any]) -> bool:
    return any(getattr(row, name) != value for name, value in settings.items())


def _was(row: Instance, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values before this change, from which `explain` rebuilds an older list."""
    weight = {"was_weight": row.weight} if "weight" in settings else {}
    return {"was_available": row.available, **weight}


def _drop_jobs(instance_id: str, most: int | None, using: str) -> int:
    """Drop so many, or all. They are of few buckets: who places a job in one of these waits."""
    rows = Allocation.objects.using(using).on(instance_id).order_by("job_id")
    seen = None if most is None else most * LOOKED_AT
    job_ids = sorted(rows.values_list("job_id", flat=True)[:seen], key=bucket)[:most]
    deallocation = Deallocation(job_ids, current_actor().name, "instance removed")
    return len(store(using).end(deallocation)) if job_ids else 0


def _one_counter(instance_id: str, using: str) -> None:
    """Put all parts of the counter into the one that a capacity is compared with."""
    parts = InstanceLoad.objects.using(using).filter(instance_id=instance_id)
    jobs = load_of(instance_id, using)
    parts.exclude(part=0).delete()
    parts.update_or_create(instance_id=instance_id, part=0, defaults={"jobs": jobs})
