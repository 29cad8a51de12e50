"""Change the list of available instances under its lock, with a new version and a new epoch."""

import secrets
from collections.abc import Mapping
from typing import Any

from django.db.models import Count, Q
from django.db.models.functions import Now

from allocation.errors import EpochChanged, UnknownInstance
from allocation.models import Instance, Roster
from allocation.models.roster import ONLY_ROW
from allocation.storage import store
from allocation.storage.locks import roster_lock
from atributo_site.core.events import record, record_many


def locked(instance_id: str, using: str, epoch: int | None = None) -> Instance:
    """Return the row under the roster lock; raise if it has changed since `epoch`."""
    row = Instance.objects.using(using).filter(pk=instance_id).first()
    if row is None:
        raise UnknownInstance(f"there is no instance {instance_id}", instance_id=instance_id)
    check_epoch(row, epoch)
    return row


def check_epoch(row: Instance, epoch: int | None) -> None:
    if epoch is not None and row.epoch != epoch:
        raise EpochChanged(
            f"instance {row.pk} is at epoch {row.epoch}, not {epoch}: look again", epoch=row.epoch
        )


def next_epoch(using: str) -> int:
    return next_epochs(1, using)[0]


def next_epochs(count: int, using: str) -> list[int]:
    Roster.objects.using(using).bulk_create([Roster(pk=ONLY_ROW)], ignore_conflicts=True)
    return store(using).epochs(count)


def change(row: Instance, kind: str, using: str, *, facts: dict[str, Any], **values: Any) -> None:
    """Write the values, a new epoch, a new version and the event."""
    epoch = next_epoch(using)
    rows = Instance.objects.using(using).filter(pk=row.pk)
    rows.update(epoch=epoch, changed_at=Now(), **values)
    announce(using)
    record(kind, f"instance:{row.pk}", using=using, epoch=epoch, **facts)


def announce(using: str) -> None:
    """Make every list that an allocator has in memory out of date with this commit."""
    instances = Instance.objects.using(using)
    totals = instances.aggregate(n=Count("pk"), available=Count("pk", filter=Q(available=True)))
    Roster.objects.using(using).filter(pk=ONLY_ROW).update(
        version=secrets.randbits(62) + 1, instances=totals["n"], available=totals["available"]
    )


def make_available_together(
    arrivals: Mapping[str, Mapping[str, Any]], *, source: str, using: str = "default"
) -> set[str]:
    """Register unknown instances, id → reason and labels, as available; return their ids.

    Somebody has decided about the others before, so they are left to `make_available`.
    """
    if not arrivals:
        return set()
    with roster_lock(using):
        known = Instance.objects.using(using).filter(pk__in=list(arrivals))
        new = sorted(set(arrivals) - set(known.values_list("pk", flat=True)))
        if new:
            _insert({pk: arrivals[pk] for pk in new}, source, using)
    return set(new)


def _insert(new: Mapping[str, Mapping[str, Any]], source: str, using: str) -> None:
    epochs = dict(zip(new, next_epochs(len(new), using), strict=True))
    Instance.objects.using(using).bulk_create(
        Instance(pk=pk, available=True, source=source, origin=source, epoch=epochs[pk], **settings)
        for pk, settings in new.items()
    )
    store(using).make_counters(list(new))
    announce(using)
    facts = {"source": source, "was_available": False}
    record_many(
        [
            ("instance.available", f"instance:{pk}", {"epoch": epochs[pk], **facts, **settings})
            for pk, settings in new.items()
        ],
        using=using,
    )
