"""Renew, claim or roll back a transaction on behalf of its own program."""

from datetime import datetime

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Least, Now

from allocation.transactions.engine.operations import Fence
from allocation.transactions.engine.roll_back import (
    FAILURES,
    RecordEnd,
    TakenOver,
    claim_seconds,
    mark_stuck,
    without_event,
)
from allocation.transactions.engine.roll_back import roll_back as undo
from allocation.transactions.models import Transaction
from atributo_site.core.failpoints import failpoint
from atributo_site.core.models.clock import from_now
from atributo_site.core.retry import retry_busy


def renew(fence: Fence) -> datetime | None:
    """Extend it by a full time from now, up to the limit; return None if it is over."""
    life = from_now(settings.ATRIBUTO.max_job_time_ms / 1000)
    failpoint("renew.before")
    active = _active(fence).filter(expires_at__gt=Now())
    if not active.update(expires_at=Least(life, F("limit_at"))):
        return None
    failpoint("renew.after")
    return Transaction.objects.values_list("expires_at", flat=True).get(pk=fence.txn)


def claim(fence: Fence, cause: str) -> bool:
    """Claim it: nothing of it is written any more, not even by a statement under way."""
    active = _active(fence)
    return retry_busy(lambda: active.claim(fence.txn, fence.epoch, cause, claim_seconds()))


def is_completed(fence: Fence) -> bool:
    return _has_status(fence, Transaction.Status.COMPLETED)


def roll_back(fence: Fence, cause: str, record_end: RecordEnd = without_event) -> None:
    """Claim the caller's own transaction and undo it."""
    if not claim(fence, cause):
        raise TakenOver(f"transaction {fence.txn} is no longer active")
    failpoint("roll_back.after_claim")
    undo_claimed(fence, record_end)


def undo_claimed(fence: Fence, record_end: RecordEnd = without_event) -> None:
    try:
        retry_busy(lambda: undo(fence.txn, fence.epoch + 1, record_end=record_end), repeatable=True)
    except TakenOver:
        raise
    except FAILURES as error:
        mark_stuck(fence.txn, fence.epoch + 1, error)
        if not _has_status(fence, Transaction.Status.ROLLED_BACK):  # or was its answer lost?
            raise


def _has_status(fence: Fence, status: str) -> bool:
    return Transaction.objects.filter(pk=fence.txn, status=status).exists()


def _active(fence: Fence):
    return Transaction.objects.filter(
        pk=fence.txn, epoch=fence.epoch, status=Transaction.Status.ACTIVE
    )
