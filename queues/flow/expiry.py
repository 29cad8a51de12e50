"""End jobs that have not started by the moment that their push has named."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.events import record_many
from queues.logic.lifecycle import EXPIRED, Status
from queues.models import QueuedJob

BATCH = 1000
ENDED: dict[str, Any] = {
    "status": Status.FAILED,
    "error": EXPIRED,
    "expired_at": Now(),
    "ended_at": Now(),
    "slot_id": None,
    "slot_epoch": None,
}


def expire_waiting(limit: int = BATCH) -> list[int]:
    """End jobs that wait for their first start beyond their moment; return their ids."""
    late = QueuedJob.objects.overdue().order_by("expires_at")
    return _expire(list(late.values_list("pk", flat=True)[:limit]), slot_id=None)


def expire_held(ids: Iterable[int], slot_id: int, epoch: int) -> list[int]:
    """End jobs that a worker has just reserved and must not begin any more.

    One that somebody has aborted meanwhile is left to whoever gives it back.
    """
    held: dict[str, Any] = {"slot_id": slot_id, "slot_epoch": epoch, "abort_asked_at": None}
    return _expire(list(ids), **held)


def is_over(expires_at: datetime | None, attempt: int, now: datetime) -> bool:
    """Return whether a job that has made so many attempts may not start any more."""
    return expires_at is not None and attempt == 0 and expires_at <= now


def _expire(ids: list[int], **held: Any) -> list[int]:
    with atomic():
        rows = QueuedJob.objects.filter(pk__in=ids, status=Status.PENDING, attempt=0, **held)
        locked = list(rows.select_for_update().values_list("pk", flat=True))
        ended = rows.filter(pk__in=locked)
        if locked:
            ended.update(**ENDED)
            record_many([("job.expired", f"job:{pk}", {}) for pk in locked])
    return locked
