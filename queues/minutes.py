"""Minutes: what the counters say of the last hour, for charts and for the dashboard."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Sum
from django.db.transaction import atomic

from queues.models import HourCount, MinuteCount, Queue
from queues.models.minute import BOUNDS_MS

HOUR = timedelta(hours=1)
SHOWN = ("pushed", "started", "complete", "failed", "retried", "wait_ms", "run_ms")
BUCKETS = [f"{kind}_{number}" for kind in ("wait", "run") for number in range(len(BOUNDS_MS) + 1)]


def sums(queue_ids: Iterable[int], now: datetime, span: timedelta = HOUR) -> dict[int, Any]:
    """Queue id → what it did in the time given."""
    columns = [*SHOWN, *BUCKETS]
    rows = _since(queue_ids, now - span).order_by().values("queue_id")
    found = rows.annotate(**{f"sum_{name}": Sum(name) for name in columns})
    return {row["queue_id"]: {name: row[f"sum_{name}"] or 0 for name in columns} for row in found}


def series(queue_ids: Iterable[int], now: datetime, span: timedelta = HOUR) -> dict[int, Any]:
    """Queue id → one (complete, failed) for each minute, oldest first."""
    minutes = int(span / timedelta(minutes=1))
    first = now.replace(second=0, microsecond=0) - timedelta(minutes=minutes - 1)
    ids = list(queue_ids)
    found = {queue_id: [(0, 0)] * minutes for queue_id in ids}
    rows = _since(ids, first).values_list("queue_id", "minute", "complete", "failed")
    for queue_id, minute, complete, failed in rows:
        place = int((minute - first) / timedelta(minutes=1))
        if 0 <= place < minutes:
            found[queue_id][place] = (complete, failed)
    return found


def within_ms(counts: dict[str, int], kind: str, share: float) -> int | None:
    """The bound that `share` of the `wait` or `run` times keep; None when it is the last."""
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
    """Take over counters that were kept elsewhere; minutes that have some already keep them."""
    queue = Queue.objects.get(name=queue_name)
    rows = [MinuteCount(queue=queue, minute=minute, **each) for minute, each in counts.items()]
    with atomic():
        MinuteCount.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
        # The curator sums up hours from the last sums on: let it begin where these minutes do.
        HourCount.objects.filter(hour__gt=min(counts) - HOUR).delete()
    return len(rows)
