"""Transactions: what is open, what is stuck, what is over. Each tab is a screen."""

from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse

from allocation.transactions.models import JournalEntry, Lock, Transaction
from atributo_site.console.base.navigation import address
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.transactions.detail import life
from atributo_site.console.transactions.forms import HistoryFilter
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import KeysetPage, capped_count, page_in_order, said_count

PAGE = 50
REST = "/api/v1/transactions"
TABS = [
    ("Open", "transactions", "open"),
    ("Stuck", "transactions-stuck", "stuck"),
    ("Locks", "transactions-locks", "locks"),
    ("History", "transactions-history", ""),
    ("Curators", "transactions-curators", ""),
]


class TransactionsScreen(Screen):
    actions = {"GET": "transaction.view"}
    title = "Transactions"
    url_name = ""

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        counts = _counts()
        tabs = [
            {
                "name": name,
                "url": address(url_name),
                "current": url_name == self.url_name,
                "count": said_count(counts[key]) if key else "",
                "is_bad": key == "stuck" and counts[key] > 0,
            }
            for name, url_name, key in TABS
        ]
        return super().show(status, tabs=tabs, **context)

    def page(self, rows: QuerySet, column: str) -> KeysetPage:
        given = self.request.GET
        return page_in_order(
            rows,
            column,
            after=given.get("after", ""),
            before=given.get("before", ""),
            size=PAGE,
        )


class Open(TransactionsScreen):
    """The one whose time ends first comes first."""

    url_name = "transactions"
    template_name = "console/transactions/list.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        owner = request.GET.get("owner", "")[:255]
        rows = still_open()
        page = self.page(counted(rows.filter(owner=owner) if owner else rows), "expires_at")
        now = database_now()
        views = views_of(request, self.url_name)
        command = "" if owner else "manage.py transactions list"
        return self.show(
            page=page,
            lives=lives(page.rows, now),
            owner=owner,
            same=same_list(REST, {"open": "true", "owner": owner}, command),
            views=views,
            now=now,
        )


class Stuck(TransactionsScreen):
    url_name = "transactions-stuck"
    template_name = "console/transactions/stuck.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        page = self.page(counted(Transaction.objects.stuck()), "expires_at")
        now = database_now()
        may_operate = may(request.user, "transaction.operate")
        return self.show(page=page, lives=lives(page.rows, now), now=now, may_operate=may_operate)


class History(TransactionsScreen):
    """What ended last comes first."""

    url_name = "transactions-history"
    template_name = "console/transactions/history.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        form = HistoryFilter(request.GET, now=now)
        if not form.is_valid():
            return self.show(400, form=form, page=None, now=now)
        rows = form.filtered(Transaction.objects.finished())
        return self.show(
            form=form,
            page=self.page(counted(rows), "-finished_at"),
            filtered=any(form.cleaned_data.values()),
            same=_same(**form.cleaned_data),
            views=views_of(request, self.url_name),
            now=now,
        )


def _same(status: str, since: datetime | None, until: datetime | None) -> dict[str, str] | None:
    """Neither a command nor REST knows when a transaction ended."""
    if since or until:
        return None
    command = "" if status else "manage.py transactions list --kind finished"
    return same_list(REST, {"open": "false", "status": status}, command)


def still_open() -> QuerySet:
    """Those that run; the stuck ones have a list of their own."""
    return Transaction.objects.unfinished().exclude(status=Transaction.Status.STUCK)


def lives(rows: list[Transaction], now: datetime) -> list[tuple[Transaction, Any]]:
    """Each transaction with the time that it has left."""
    return [(row, life(row, now)) for row in rows]


def counted(rows: QuerySet) -> QuerySet:
    """With the number of keys that each holds and of changes that it made."""
    return rows.annotate(held=_number_of(Lock), changes=_number_of(JournalEntry))


def _number_of(model: Any) -> Coalesce:
    own = model.objects.filter(transaction=OuterRef("pk")).order_by().values("transaction")
    return Coalesce(Subquery(own.annotate(number=Count("pk")).values("number")), 0)


def _counts() -> dict[str, int]:
    return {
        "open": capped_count(still_open()),
        "stuck": capped_count(Transaction.objects.stuck()),
        "locks": capped_count(Lock.objects.all()),
    }
