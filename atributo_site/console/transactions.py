"""Transactions: what is open, stuck and over, who holds which key, and who curates."""

from datetime import datetime
from typing import Any, ClassVar

from django.contrib import messages
from django.db import DatabaseError
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from allocation.errors import AtributoError
from allocation.models import Event
from allocation.models.clock import database_now
from allocation.transactions import operators
from allocation.transactions.curators import curators, hand_over
from allocation.transactions.models import JournalEntry, Lock, LockWait, Transaction
from atributo_site.console.journal import journal
from atributo_site.console.screen import Screen
from atributo_site.keyset import page_by_key
from atributo_site.permissions import may

PAGE = 50
TABS = (
    ("Open", "transactions"),
    ("Stuck", "transactions-stuck"),
    ("Locks", "locks"),
    ("History", "transactions-history"),
    ("Curators", "curators"),
    ("Documents", "documents"),
)


class TransactionScreen(Screen):
    """A tab below /transactions/."""

    url_name: ClassVar[str]

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        tabs = [
            {"name": name, "url": reverse(url), "current": url == self.url_name}
            for name, url in TABS
        ]
        return super().show(status, tabs=tabs, **context)


class TransactionList(TransactionScreen):
    """One kind of transactions, newest first."""

    actions = {"GET": "transaction.view"}
    template_name = "console/transactions.html"
    title = "Transactions"
    lead: ClassVar[str]
    empty: ClassVar[str]

    def rows(self) -> QuerySet:
        return Transaction.objects.unfinished()

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        after, before = (request.GET.get(name, "") for name in ("after", "before"))
        counted = self.rows().annotate(held=Count("locks"))
        page = page_by_key(counted, after=after, before=before, size=PAGE)
        for row in page.rows:
            row.left = left(row.started_at, row.expires_at, now)
        return self.show(page=page, now=now, lead=self.lead, empty=self.empty)


class Open(TransactionList):
    url_name = "transactions"
    lead = "Transactions that are not over yet, with the keys that they hold."
    empty = "No transaction is open"


class Stuck(TransactionList):
    url_name = "transactions-stuck"
    lead = "What could not be undone. Each is tried again later and later, and keeps its locks."
    empty = "Nothing is stuck"

    def rows(self) -> QuerySet:
        return Transaction.objects.stuck()


class History(TransactionList):
    url_name = "transactions-history"
    lead = "Transactions that are over, until retention removes them."
    empty = "No transaction has ended yet"

    def rows(self) -> QuerySet:
        return Transaction.objects.finished()


class One(TransactionScreen):
    actions = {"GET": "transaction.view"}
    url_name = "transactions"
    template_name = "console/transaction.html"

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = Transaction.objects.filter(pk=pk).first()
        if row is None:
            raise Http404(f"There is no transaction {pk}.")
        now = database_now()
        entries = JournalEntry.objects.filter(transaction=row).select_related("document")
        return self.show(
            title=f"Transaction {pk}",
            row=row,
            now=now,
            left=left(row.started_at, row.expires_at, now),
            journal=journal(list(entries[:200])),
            locks=Lock.objects.filter(transaction=row).with_names()[:200],
            events=Event.objects.about(f"transaction:{pk}").newest_first()[:20],
            may_operate=may(request.user, "transaction.operate"),
        )


class Act(Screen):
    """Roll back, complete or try again, with a reason."""

    actions = {"POST": "transaction.operate"}
    does: ClassVar[dict[str, Any]] = {
        "roll_back": (operators.roll_back, "is rolled back"),
        "complete": (operators.complete, "is completed as it stands"),
        "retry": (operators.retry, "is rolled back"),
    }

    def post(self, request: HttpRequest, pk: int, action: str) -> HttpResponse:
        act, sentence = self.does[action]
        try:
            act(pk, request.POST.get("reason", ""))
        except (AtributoError, DatabaseError) as error:
            messages.error(request, f"Not done: {error}")
        else:
            messages.success(request, f"Transaction {pk} {sentence}.")
        return redirect("transaction", pk)


class Locks(TransactionScreen):
    actions = {"GET": "lock.view"}
    url_name = "locks"
    template_name = "console/transactions_locks.html"
    title = "Locks"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        after, before = (request.GET.get(name, "") for name in ("after", "before"))
        page = page_by_key(
            Lock.objects.with_names(), after=after, before=before, size=PAGE, descending=False
        )
        waits = _waits(page.rows)
        for lock in page.rows:
            lock.left = left(lock.transaction.started_at, lock.transaction.expires_at, now)
            lock.waiters = waits.get(lock.document_id, [])
        return self.show(page=page, now=now, may_release=may(request.user, "lock.release"))


class Release(Screen):
    actions = {"POST": "lock.release"}

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        try:
            operators.force_release(pk, request.POST.get("reason", ""))
        except (AtributoError, DatabaseError) as error:
            messages.error(request, f"Not done: {error}")
        else:
            messages.success(request, "The lock is released.")
        return redirect("locks")


class Curators(TransactionScreen):
    actions = {"GET": "curator.view"}
    url_name = "curators"
    template_name = "console/transactions_curators.html"
    title = "Curators"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        repairs = Event.objects.filter(kind="curator.repaired").newest_first()[:20]
        return self.show(
            curators=curators(now),
            events=repairs,
            now=now,
            may_hand_over=may(request.user, "curator.hand_over"),
        )


class HandOver(Screen):
    actions = {"POST": "curator.hand_over"}

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            hand_over(request.POST.get("reason", ""))
        except AtributoError as error:
            messages.error(request, f"Not done: {error}")
        else:
            messages.success(request, "The first curator that looks takes over.")
        return redirect("curators")


def left(start: datetime, end: datetime, now: datetime) -> int:
    """How much of a life is left, in percent."""
    whole = max((end - start).total_seconds(), 0.001)
    return round(100 * min(max((end - now).total_seconds() / whole, 0), 1))


def _waits(locks: list[Lock]) -> dict[int, list[int]]:
    """Which transactions wait for each of these keys, by one query."""
    waits: dict[int, list[int]] = {}
    keys = {lock.document_id for lock in locks}
    for key, txn in LockWait.objects.filter(document__in=keys).values_list(
        "document_id", "transaction_id"
    ):
        waits.setdefault(key, []).append(txn)
    return waits
