"""Transactions and locks at one moment, for the dashboard, REST and metrics."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from allocation.transactions.models import Lock, LockWait, Transaction

MOST_COUNTED = 10_000
RECENT = timedelta(hours=1)
Status = Transaction.Status


def snapshot(now: datetime) -> dict[str, Any]:
    """Six queries, none of which reads more rows than are open or MOST_COUNTED."""
    unfinished = Transaction.objects.unfinished().aggregate(
        active=Count("pk", filter=Q(status=Status.ACTIVE)),
        rolling_back=Count("pk", filter=Q(status=Status.ROLLING_BACK)),
        stuck=Count("pk", filter=Q(status=Status.STUCK)),
        oldest=Min("started_at"),
    )
    oldest = unfinished.pop("oldest")
    return {
        **unfinished,
        "oldest_seconds": None if oldest is None else (now - oldest).total_seconds(),
        "overdue": capped(Transaction.objects.overdue(now)),
        "locks": capped(Lock.objects.all()),
        "waiting": capped(LockWait.objects.all()),
        "completed_last_hour": _finished(Status.COMPLETED, now),
        "rolled_back_last_hour": _finished(Status.ROLLED_BACK, now),
    }


def capped(rows: QuerySet) -> int:
    """How many, or one more than MOST_COUNTED: counting stops there."""
    return rows.order_by()[: MOST_COUNTED + 1].count()


def _finished(status: str, now: datetime) -> int:
    recent = Transaction.objects.finished().filter(finished_at__gte=now - RECENT)
    return capped(recent.filter(status=status))
