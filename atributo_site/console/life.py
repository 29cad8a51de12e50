"""How much of its time a transaction has left, as a bar and as words."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from allocation.transactions.models import Transaction
from atributo_site.console.durations import duration

SOON = 0.25


@dataclass(frozen=True)
class Life:
    percent: int
    tone: str
    words: str


def life(row: Transaction, now: datetime) -> Life:
    """What `expires_at` means depends on the status: end, take-over or next try."""
    if row.finished_at is not None:
        return Life(0, "idle", "over")
    left = (row.expires_at - now).total_seconds()
    share = min(1.0, max(0.0, left / (settings.ATRIBUTO.max_job_time_ms / 1000)))
    if row.status == Transaction.Status.STUCK:
        return Life(0, "bad", _next_try(left))
    if left <= 0:
        return Life(0, "bad", f"overdue for {duration(-left)}")
    return Life(round(100 * share), "warn" if share < SOON else "ok", f"{duration(left)} left")


def _next_try(left: float) -> str:
    left += settings.ATRIBUTO.additional_timeout_wait_ms / 1000
    return f"next try in {duration(left)}" if left > 0 else "next try is due"
