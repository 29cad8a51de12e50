"""The state of this room for the dashboard, REST and metrics, by a constant number of queries."""

from datetime import datetime
from typing import Any

from django.db.models import Case, CharField, Count, F, Value, When

from pools.models import Backend, Pool, PoolSnapshot
from pools.reporting.live_view import MOST_PROCESSES, dead_backends

MOST_TROUBLED = 5
# As on the list of names.
WORD = Case(
    When(is_watched=False, then=Value("paused")), default=F("state"), output_field=CharField()
)


def snapshot(now: datetime) -> dict[str, Any]:
    troubled = Pool.objects.troubled().order_by("state_since")[:MOST_TROUBLED]
    reports = list(PoolSnapshot.objects.fresh()[:MOST_PROCESSES])
    return {
        "names": _counts(Pool.objects.annotate(word=WORD), "word"),
        "backends": _counts(Backend.objects.all(), "state"),
        "processes": _processes(reports),
        "troubled": [_pool(pool, now) for pool in troubled],
        "dead_backends": dead_backends(reports)[:MOST_TROUBLED],
    }


def _counts(rows: Any, word: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(word).annotate(Count("pk")))


def _processes(reports: list[PoolSnapshot]) -> int:
    is_cut = len(reports) == MOST_PROCESSES
    return PoolSnapshot.objects.fresh().count() if is_cut else len(reports)


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
