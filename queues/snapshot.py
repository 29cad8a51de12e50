"""Queues at one moment, for the dashboard, REST and metrics: six queries, no raw rows."""

from datetime import datetime
from typing import Any

from queues.depth import COUNTED, first_due, oldest_is_sticky, oldest_seconds, with_depth
from queues.failures import failing
from queues.job_states import INDEXED
from queues.logic.lateness import lateness
from queues.minutes import series, sums
from queues.models import Queue, QueuedJob

MOST_QUEUES = 100
SUMS = ("pushed", "complete", "failed", "retried")
NOTHING = dict.fromkeys(SUMS, 0)


def snapshot(now: datetime) -> dict[str, Any]:
    found = list(with_depth(Queue.objects.existing()).order_by("name")[: MOST_QUEUES + 1])
    queues = found[:MOST_QUEUES]
    ids = [queue.pk for queue in queues]
    hours, minutes = sums(ids, now), series(ids, now)
    return {
        "queues": [
            {**queue_shown(queue, now, hours.get(queue.pk)), "minutes": minutes[queue.pk]}
            for queue in queues
        ],
        "more": len(found) > MOST_QUEUES,
        "last_hour": {name: sum(hour[name] for hour in hours.values()) for name in SUMS},
        "failed": _failed(),
        "failing": failing(now),
    }


def queue_shown(queue: Any, now: datetime, hour: dict[str, int] | None) -> dict[str, Any]:
    """One queue with its depth and its last hour."""
    counts = hour or NOTHING
    oldest, own = oldest_seconds(queue, now), queue.target_age_seconds
    return {
        "name": queue.name,
        "running": queue.running,
        "max_workers": queue.max_workers,
        "paused": queue.paused,
        "paused_by": queue.paused_by,
        "waiting": queue.due,
        "delayed": queue.delayed,
        "next_due_at": first_due(queue),
        "oldest_seconds": oldest,
        "target_age_seconds": own,
        "lateness": lateness(oldest, own, queue.paused),
        "oldest_is_sticky": oldest_is_sticky(queue),
        "hour": {name: counts[name] for name in SUMS},
    }


def _failed() -> int:
    """Jobs that ended as failed, counted no further than is said."""
    failed = QueuedJob.objects.visible().extra(where=[INDEXED["failed"]]).order_by()
    return failed.values("pk")[: COUNTED + 1].count()
