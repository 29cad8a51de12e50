"""Queues at one moment, for the dashboard, REST and metrics: a dozen queries, no raw rows."""

from datetime import datetime
from typing import Any

from queues.models import Queue, QueuedJob
from queues.queries.backlog import late, with_depth
from queues.queries.counters import HOUR, series, sums
from queues.queries.failures import failed_by_queue, failing
from queues.queries.presenters import SUMS, queue_status
from queues.sql.backlog import COUNTED
from queues.sql.states import INDEXED

MOST_QUEUES = 100


def snapshot(now: datetime) -> dict[str, Any]:
    existing = Queue.objects.existing()
    first = list(with_depth(existing).order_by("name")[: MOST_QUEUES + 1])
    queues = queue_lines(first[:MOST_QUEUES], now)
    not_shown = existing.count() - len(queues) if len(first) > len(queues) else 0
    return {
        "queues": queues,
        "more": not_shown > 0,
        "not_shown": max(0, not_shown),
        "late_not_shown": _late_after(queues, now) if not_shown > 0 else [],
        "last_hour": {name: sum(queue["hour"][name] for queue in queues) for name in SUMS},
        "failed": _failed(),
        "failing": failing(now),
    }


def queue_lines(queues: list[Any], now: datetime) -> list[dict[str, Any]]:
    """Describe queues that have their depth, with their last minutes and what failed in them."""
    ids = [queue.pk for queue in queues]
    hours, minutes = sums(ids, now), series(ids, now)
    failed = failed_by_queue(now - HOUR)
    return [
        {
            **queue_status(queue, now, hours.get(queue.pk)),
            "minutes": minutes[queue.pk],
            "failed_jobs": failed.get(queue.pk, 0),
        }
        for queue in queues
    ]


def _late_after(listed: list[dict[str, Any]], now: datetime) -> list[dict[str, Any]]:
    """Return late queues after the last that is listed."""
    name = listed[-1]["name"] if listed else ""
    behind = late().filter(name__gt=name).order_by("name")
    ids = list(behind.values_list("pk", flat=True)[:MOST_QUEUES])
    hours = sums(ids, now)
    rows = with_depth(Queue.objects.filter(pk__in=ids)).order_by("name")
    return [queue_status(queue, now, hours.get(queue.pk)) for queue in rows]


def _failed() -> int:
    """Count jobs that ended as failed, no further than COUNTED."""
    failed = QueuedJob.objects.visible().extra(where=[INDEXED["failed"]]).order_by()  # nosec B610 # a constant condition
    return failed.values("pk")[: COUNTED + 1].count()
