"""Gauges: what runs, what waits and since when, in one cheap statement."""

from datetime import datetime
from typing import Any

from django.db import connection

from queues import sql
from queues.dialect import dialect
from queues.reserved import aware

COUNTED = 10_000  # beyond this, «10,000+» is said


def gauges(now: datetime) -> list[dict[str, Any]]:
    """One line per queue."""
    with connection.cursor() as cursor:
        cursor.execute(sql.gauges(dialect()), [COUNTED + 1])
        return [_gauge(row, now) for row in cursor.fetchall()]


def _gauge(row: tuple[Any, ...], now: datetime) -> dict[str, Any]:
    name, max_workers, paused_at, running, waiting, *moments = row
    dues = [moment for moment in map(aware, moments) if moment is not None]
    oldest = min(dues, default=None)
    waits = oldest is not None and oldest <= now
    return {
        "name": name,
        "running": running,
        "max_workers": max_workers,
        "waiting": waiting,
        "oldest_seconds": (now - oldest).total_seconds() if waits and oldest else None,
        "next_due_at": oldest,
        "paused": paused_at is not None,
    }
