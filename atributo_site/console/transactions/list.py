"""List the transactions that are open, stuck or over, each on a tab."""

from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse

from allocation.transactions.models import JournalEntry, Lock, Transaction
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import TabbedScreen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.transactions.detail import life
from atributo_site.console.transactions.forms import HistoryFilter
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import KeysetPage, capped_count, format_count, page_in_order

PAGE = 50
REST = "/api/v1/transactions"


class TransactionsScreen(TabbedScreen):
    actions = {"GET": "transaction.view"}
    title = "Transactions"
    tabs = {
        "transactions": "Open",
        "transactions-stuck": "Stuck",
        "transactions-locks": "Locks",
        "transactions-history": "History",
        "transactions-curators": "Curators",
    }

    def tab_list(self) -> list[dict[str, Any]]:
        counts = {
            "Open": capped_count(still_open()),
            "Stuck": capped_count(Transaction.objects.stuck()),
            "Locks": capped_count(Lock.objects.all()),
        }
        return [
            {
                **tab,
                "count": format_count(counts[tab["name"]]) if tab["name"] in counts else "",
                "is_bad": tab["name"] == "Stuck" and counts["Stuck"] > 0,
            }
            for tab in super().tab_list()
        ]

    def page(self, rows: QuerySet, column: str) -> KeysetPage:
        return page_in_order(rows, column, **self.page_keys, size=PAGE)


class Open(TransactionsScreen):
    """List open transactions, the one that expires first at the top."""

    url_name = "transactions"
    template_name = "console/transactions/list.html"
    is_shared = True

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
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        page = self.page(counted(Transaction.objects.stuck()), "expires_at")
        now = database_now()
        may_operate = may(request.user, "transaction.operate")
        return self.show(page=page, lives=lives(page.rows, now), now=now, may_operate=may_operate)


class History(TransactionsScreen):
    """List finished transactions, the newest end at the top."""

    url_name = "transactions-history"
    template_name = "console/transactions/history.html"
    is_shared = True

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
    """Return no equivalents for a period: neither the command nor REST filters by the end."""
    if since or until:
        return None
    command = "" if status else "manage.py transactions list --kind finished"
    return same_list(REST, {"open": "false", "status": status}, command)


def still_open() -> QuerySet:
    """Return the unfinished ones without the stuck ones, which have their own list."""
    return Transaction.objects.unfinished().exclude(status=Transaction.Status.STUCK)


def lives(rows: list[Transaction], now: datetime) -> list[tuple[Transaction, Any]]:
    """Pair each transaction with the time that it has left."""
    return [(row, life(row, now)) for row in rows]


def counted(rows: QuerySet) -> QuerySet:
    """Annotate how many keys each holds and how many changes it made."""
    return rows.annotate(held=_number_of(Lock), changes=_number_of(JournalEntry))


def _number_of(model: Any) -> Coalesce:
    own = model.objects.filter(transaction=OuterRef("pk")).order_by().values("transaction")
    return Coalesce(Subquery(own.annotate(number=Count("pk")).values("number")), 0)
