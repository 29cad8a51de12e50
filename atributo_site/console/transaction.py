"""One transaction: where it stands, what it holds, what it wrote, what happened to it."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from allocation.models import Event
from allocation.models.clock import database_now
from allocation.transactions.errors import TransactionNotFound
from allocation.transactions.models import JournalEntry, Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.console.journal import written
from atributo_site.console.life import life
from atributo_site.console.screen import Screen
from atributo_site.keyset import page_by_key
from atributo_site.permissions import may

STUCK = Row.Status.STUCK
LINES = 20
MOST_LOCKS = 100
NEWEST_EVENTS = 20


class Transaction(Screen):
    actions = {"GET": "transaction.view"}
    template_name = "console/transactions/one.html"

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = found(pk)
        self.title = f"Transaction {pk}"
        now = database_now()
        locks = list(Lock.objects.filter(transaction=pk).with_names()[: MOST_LOCKS + 1])
        return self.show(
            row=row,
            life=life(row, now),
            locks=locks[:MOST_LOCKS],
            more_locks=len(locks) > MOST_LOCKS,
            wait=LockWait.objects.filter(transaction=pk).select_related("document").first(),
            events=list(Event.objects.about(f"transaction:{pk}").newest_first()[:NEWEST_EVENTS]),
            may_retry=may(request.user, "transaction.operate") and row.status == STUCK,
            may_end=may(request.user, "transaction.end") and row.finished_at is None,
            may_release=may(request.user, "lock.release"),
            now=now,
            **self._journal(pk),
        )

    def _journal(self, pk: int) -> dict[str, Any]:
        page = page_by_key(
            JournalEntry.objects.filter(transaction=pk).select_related("document"),
            after=self.request.GET.get("after", ""),
            before=self.request.GET.get("before", ""),
            size=LINES,
            descending=False,
        )
        return {"page": page, "journal": written(page.rows)}


def found(pk: int) -> Row:
    row = Row.objects.filter(pk=pk).first()
    if row is None:
        raise TransactionNotFound(f"There is no transaction {pk}.")
    return row
