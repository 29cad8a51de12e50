"""Show one transaction: its time left, locks, journal and events."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from allocation.transactions.errors import TransactionNotFound
from allocation.transactions.models import JournalEntry, Lock, LockWait, Transaction
from atributo_site.console.base.screen import Screen
from atributo_site.console.events.folding import fold_events
from atributo_site.console.transactions.journal import written
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.format import duration
from atributo_site.web.pagination import page_by_key

SOON = 0.25
STUCK = Transaction.Status.STUCK
LINES = 20
MOST_LOCKS = 100
READ_EVENTS = 50  # failed rollbacks among them are one row


class TransactionDetail(Screen):
    actions = {"GET": "transaction.view"}
    template_name = "console/transactions/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = transaction_or_404(pk)
        self.title = f"Transaction {pk}"
        now = database_now()
        locks = list(Lock.objects.filter(transaction=pk).with_names()[: MOST_LOCKS + 1])
        return self.show(
            row=row,
            life=life(row, now),
            locks=locks[:MOST_LOCKS],
            more_locks=len(locks) > MOST_LOCKS,
            wait=LockWait.objects.filter(transaction=pk).select_related("document").first(),
            events=fold_events(
                Event.objects.about(f"transaction:{pk}").newest_first()[:READ_EVENTS]
            ),
            may_retry=may(request.user, "transaction.operate") and row.status == STUCK,
            may_end=may(request.user, "transaction.end") and row.finished_at is None,
            may_release=may(request.user, "lock.release"),
            now=now,
            **self._journal(pk),
        )

    def _journal(self, pk: int) -> dict[str, Any]:
        page = page_by_key(
            JournalEntry.objects.filter(transaction=pk).with_documents(),
            **self.page_keys,
            size=LINES,
            descending=False,
        )
        return {"page": page, "journal": written(page.rows)}


def transaction_or_404(pk: int) -> Transaction:
    row = Transaction.objects.filter(pk=pk).first()
    if row is None:
        raise TransactionNotFound(f"Transaction {pk} does not exist.")
    return row


@dataclass(frozen=True)
class Life:
    percent: int
    tone: str
    words: str


def life(row: Transaction, now: datetime) -> Life:
    """Return the time left as a bar and words; `expires_at` is the next try of a stuck one."""
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
    return f"next attempt in {duration(left)}" if left > 0 else "next attempt is due"
