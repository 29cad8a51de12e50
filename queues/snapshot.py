"""The state of this room for the dashboard, REST and metrics: a constant number of queries."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Sum

from queues.gauges import COUNTED, gauges
from queues.logic.lifecycle import Status
from queues.models import MinuteCount, QueuedJob, Service

LAST = timedelta(hours=1)
SUMS = ("pushed", "started", "complete", "failed", "retried")


def snapshot(now: datetime) -> dict[str, Any]:
    """Queues with what runs and waits, and what the last hour brought."""
    hour = MinuteCount.objects.filter(minute__gte=now - LAST)
    sums = hour.aggregate(**{name: Sum(name) for name in SUMS})
    failed = QueuedJob.objects.visible().filter(status=Status.FAILED).order_by()
    return {
        "queues": gauges(now),
        "last_hour": {name: total or 0 for name, total in sums.items()},
        "failed": failed.values("pk")[: COUNTED + 1].count(),
        "services": Service.objects.count(),
    }
