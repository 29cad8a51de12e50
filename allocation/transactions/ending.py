"""How a transaction ends or lives on: renewed, completed, rolled back."""

from datetime import datetime

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.db.models.functions import Least, Now

from allocation.failpoints import failpoint
from allocation.models.clock import from_now
from allocation.transactions.models import Transaction
from allocation.transactions.operations import Fence
from allocation.transactions.roll_back import (
    FAILURES,
    TakenOver,
    Tell,
    claim_seconds,
    mark_stuck,
    silently,
)
from allocation.transactions.roll_back import (
    roll_back as undo,
)


def renew(fence: Fence) -> datetime | None:
    """Another full time from now, up to the limit; None when it is over already."""
    life = from_now(settings.ATRIBUTO.max_job_time_ms / 1000)
    failpoint("renew.before")
    active = _active(fence).filter(expires_at__gt=Now())
    if not active.update(expires_at=Least(life, F("limit_at"))):
        return None
    failpoint("renew.after")
    return Transaction.objects.values_list("expires_at", flat=True).get(pk=fence.txn)


def is_completed(fence: Fence) -> bool:
    replace_broken_connection()
    completed = Transaction.objects.filter(pk=fence.txn, status=Transaction.Status.COMPLETED)
    return completed.exists()


def roll_back(fence: Fence, cause: str, tell: Tell = silently) -> None:
    """Claim one's own transaction, so that nothing of it is written any more, and undo it."""
    replace_broken_connection()
    if not _active(fence).claim(fence.txn, fence.epoch, cause, claim_seconds()):
        raise TakenOver(f"transaction {fence.txn} is not active any more")
    failpoint("roll_back.after_claim")
    try:
        undo(fence.txn, fence.epoch + 1, tell=tell)
    except TakenOver:
        raise
    except FAILURES as error:
        mark_stuck(fence.txn, fence.epoch + 1, error)
        raise


def replace_broken_connection() -> None:
    """After an error the server may have closed it; what comes next deserves a new one."""
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()


def _active(fence: Fence):
    return Transaction.objects.filter(
        pk=fence.txn, epoch=fence.epoch, status=Transaction.Status.ACTIVE
    )
