"""The state of this room for the dashboard, REST and metrics: a constant number of queries."""

from datetime import datetime
from typing import Any

from django.db.models import Count

from pools.models import Backend, Pool, PoolSnapshot

MOST_TROUBLED = 5


def snapshot(now: datetime) -> dict[str, Any]:
    troubled = Pool.objects.troubled().order_by("state_since")[:MOST_TROUBLED]
    return {
        "names": _counts(Pool.objects.all()),
        "backends": _counts(Backend.objects.all()),
        "processes": PoolSnapshot.objects.fresh().count(),
        "troubled": [_pool(pool, now) for pool in troubled],
    }


def _counts(rows: Any) -> dict[str, int]:
    return dict(rows.order_by().values_list("state").annotate(Count("pk")))


def _pool(pool: Pool, now: datetime) -> dict[str, Any]:
    stale = pool.stale_since
    return {
        "name": pool.name,
        "state": pool.shown_state,
        "since": pool.waiting_since or stale or pool.state_since,
        "stale_seconds": None if stale is None else max(0.0, (now - stale).total_seconds()),
        "waiting": pool.waiting,
        "error": pool.last_error,
    }
