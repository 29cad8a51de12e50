"""Change the list of available instances: always alone, with a new version and an epoch."""

import secrets
from typing import Any

from django.db.models import Count, Q
from django.db.models.functions import Now

from allocation.errors import EpochChanged, UnknownInstance
from allocation.events import record
from allocation.models import Instance, Roster
from allocation.models.roster import ONLY_ROW
from allocation.stores import store


def locked(instance_id: str, using: str, epoch: int | None = None) -> Instance:
    """The row, inside availability_alone; refused if it changed since `epoch`."""
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
    """Every list in every memory is out of date from this commit on."""
    instances = Instance.objects.using(using)
    totals = instances.aggregate(n=Count("pk"), available=Count("pk", filter=Q(available=True)))
    Roster.objects.using(using).filter(pk=ONLY_ROW).update(
        version=secrets.randbits(62) + 1, instances=totals["n"], available=totals["available"]
    )
