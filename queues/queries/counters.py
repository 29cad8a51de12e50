"""Counters of each minute, and their sums for each hour, for charts and the dashboard."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Sum
from django.db.transaction import atomic

from atributo_site.core.leases import HeldLease
from queues.models import HourCount, MinuteCount, Queue
from queues.models.counters import BOUNDS_MS, Counts

HOUR = timedelta(hours=1)
LATE = timedelta(minutes=5)  # pushes are counted a little later than they happen
MOST_AT_ONCE = 48
COLUMNS = [field.name for field in Counts._meta.fields]
SHOWN = ("pushed", "started", "complete", "failed", "retried", "wait_ms", "run_ms")
BUCKETS = [f"{kind}_{number}" for kind in ("wait", "run") for number in range(len(BOUNDS_MS) + 1)]


def sum_hours(now: datetime, lease: HeldLease) -> int:
    """Sum up hours that lack their sums, oldest first, a bounded number at once."""
    hours = unsummed(now)
    for hour in hours:
        with atomic():
            lease.guard()
            _sum(hour)
    return len(hours)


def summed_until(now: datetime) -> datetime | None:
    """Return the end of the last hour that has its sums; every one before it has them, too."""
    newest = HourCount.objects.filter(hour__lt=now).order_by("-hour").first()
    return None if newest is None else newest.hour + HOUR


def unsummed(now: datetime) -> list[datetime]:
    """Return the hours after the last sums that have minutes, without the current hour."""
    minutes = MinuteCount.objects.all()
    begin = summed_until(now)
    if begin is not None:
        minutes = minutes.filter(minute__gte=begin)
    over = _hour(now - LATE)
    hours: list[datetime] = []
    while len(hours) < MOST_AT_ONCE:
        first = minutes.filter(minute__lt=over).order_by("minute").first()
        if first is None:
            break
        hours.append(_hour(first.minute))
        minutes = minutes.filter(minute__gte=hours[-1] + HOUR)
    return hours


def _sum(hour: datetime) -> None:
    rows: Any = MinuteCount.objects.filter(minute__gte=hour, minute__lt=hour + HOUR)
    sums = rows.order_by().values("queue_id").annotate(**{f"sum_{n}": Sum(n) for n in COLUMNS})
    HourCount.objects.bulk_create(
        [
            HourCount(queue_id=row["queue_id"], hour=hour, **{n: row[f"sum_{n}"] for n in COLUMNS})
            for row in sums
        ],
        ignore_conflicts=True,
    )


def _hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def sums(queue_ids: Iterable[int], now: datetime, span: timedelta = HOUR) -> dict[int, Any]:
    """Return what each queue did in the time given, by queue id."""
    columns = [*SHOWN, *BUCKETS]
    rows = _since(queue_ids, now - span).order_by().values("queue_id")
    summed = rows.annotate(**{f"sum_{name}": Sum(name) for name in columns})
    return {row["queue_id"]: {name: row[f"sum_{name}"] or 0 for name in columns} for row in summed}


def series(queue_ids: Iterable[int], now: datetime, span: timedelta = HOUR) -> dict[int, Any]:
    """Return one (complete, failed) for each minute, oldest first, by queue id."""
    minutes = int(span / timedelta(minutes=1))
    first = now.replace(second=0, microsecond=0) - timedelta(minutes=minutes - 1)
    ids = list(queue_ids)
    counts = {queue_id: [(0, 0)] * minutes for queue_id in ids}
    rows = _since(ids, first).values_list("queue_id", "minute", "complete", "failed")
    for queue_id, minute, complete, failed in rows:
        place = int((minute - first) / timedelta(minutes=1))
        if 0 <= place < minutes:
            counts[queue_id][place] = (complete, failed)
    return counts


def within_ms(counts: dict[str, int], kind: str, share: float) -> int | None:
    """Return the bound that `share` of the `wait` or `run` times keep; None if it is the last."""
    buckets = [counts[f"{kind}_{number}"] for number in range(len(BOUNDS_MS) + 1)]
    wanted, seen = share * sum(buckets), 0
    for bound, count in zip(BOUNDS_MS, buckets, strict=False):
        seen += count
        if seen >= wanted:
            return bound
    return None


def _since(queue_ids: Iterable[int], moment: datetime) -> Any:
    return MinuteCount.objects.filter(queue_id__in=list(queue_ids), minute__gte=moment)


def remember(queue_name: str, counts: dict[datetime, dict[str, int]]) -> int:
    """Store counters that were kept elsewhere; minutes that have some already keep them."""
    queue = Queue.objects.get(name=queue_name)
    rows = [MinuteCount(queue=queue, minute=minute, **each) for minute, each in counts.items()]
    with atomic():
        MinuteCount.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
        # The curator sums up hours from the last sums on: let it begin where these minutes do.
        HourCount.objects.filter(hour__gt=min(counts) - HOUR).delete()
    return len(rows)
