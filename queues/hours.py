"""Hours: the minutes of each hour that is over, summed once, for charts of a week or more."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Sum
from django.db.transaction import atomic

from allocation.leases import HeldLease
from queues.models import HourCount, MinuteCount
from queues.models.minute import Counts

HOUR = timedelta(hours=1)
LATE = timedelta(minutes=5)  # pushes are counted a little later than they happen
MOST_AT_ONCE = 48
COLUMNS = [field.name for field in Counts._meta.fields]


def sum_hours(now: datetime, lease: HeldLease) -> int:
    """Sum up hours that lack their sums, oldest first, a bounded number at once."""
    hours = unsummed(now, lease.using)
    for hour in hours:
        with atomic(using=lease.using):
            lease.guard()
            _sum(hour, lease.using)
    return len(hours)


def summed_until(now: datetime, using: str = "default") -> datetime | None:
    """The end of the last hour that has its sums; every one before it has them too."""
    newest = HourCount.objects.using(using).filter(hour__lt=now).order_by("-hour").first()
    return None if newest is None else newest.hour + HOUR


def unsummed(now: datetime, using: str) -> list[datetime]:
    """Hours with minutes behind the last sums, but not the one under way."""
    minutes = MinuteCount.objects.using(using)
    begin = summed_until(now, using)
    if begin is not None:
        minutes = minutes.filter(minute__gte=begin)
    over = _hour(now - LATE)
    found: list[datetime] = []
    while len(found) < MOST_AT_ONCE:
        first = minutes.filter(minute__lt=over).order_by("minute").first()
        if first is None:
            break
        found.append(_hour(first.minute))
        minutes = minutes.filter(minute__gte=found[-1] + HOUR)
    return found


def _sum(hour: datetime, using: str) -> None:
    rows: Any = MinuteCount.objects.using(using).filter(minute__gte=hour, minute__lt=hour + HOUR)
    sums = rows.order_by().values("queue_id").annotate(**{f"sum_{n}": Sum(n) for n in COLUMNS})
    HourCount.objects.using(using).bulk_create(
        [
            HourCount(queue_id=row["queue_id"], hour=hour, **{n: row[f"sum_{n}"] for n in COLUMNS})
            for row in sums
        ],
        ignore_conflicts=True,
    )


def _hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
