"""Gauges: what runs, what waits and since when, in a constant number of cheap queries."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Q
from django.db.models.functions import Now

from queues.due import next_due
from queues.models import Queue, QueuedJob

COUNTED = 10_000  # beyond this, «10 000+» is said


def gauges(now: datetime) -> list[dict[str, Any]]:
    """One line per queue."""
    running = Count("slots", filter=Q(slots__leased_until__gt=Now()))
    queues = Queue.objects.existing().annotate(running=running).order_by("name")
    return [_gauge(queue, now) for queue in queues]


def _gauge(queue: Any, now: datetime) -> dict[str, Any]:
    oldest = next_due(queue.pk)
    waited = None if oldest is None or oldest > now else (now - oldest).total_seconds()
    return {
        "name": queue.name,
        "running": queue.running,
        "max_workers": queue.max_workers,
        "waiting": capped(QueuedJob.objects.waiting().filter(queue=queue)),
        "oldest_seconds": waited,
        "next_due_at": oldest,
        "paused": queue.paused,
    }


def capped(jobs: Any, most: int = COUNTED) -> int:
    """How many there are, counted no further than `most` + 1."""
    return jobs.order_by().values("pk")[: most + 1].count()
