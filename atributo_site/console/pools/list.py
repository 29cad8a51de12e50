"""Pools & DNS: watched names, their backends, and live pools."""

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.navigation import address
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key
from pools.models import Backend, Pool
from pools.reporting.live_view import live_pools, reports, with_live
from pools.timeline import with_history

TABS = [
    ("Names", "pools"),
    ("Backends", "pools-backends"),
    ("Timeline", "pools-timeline"),
    ("Live pools", "pools-live"),
    ("Look-up", "pools-look-up"),
]
PAGE = 50


class PoolScreen(Screen):
    actions = {"GET": "pool.view"}
    title = "Pools & DNS"
    url_name = ""

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        user = self.request.user
        tabs = [
            {"name": name, "url": address(url_name), "current": url_name == self.url_name}
            for name, url_name in TABS
            if url_name != "pools-look-up" or may(user, "dns.look_up")
        ]
        may_do = {verb: may(user, f"pool.{verb}") for verb in ("operate", "change")}
        words = Backend.Administrative.values
        common = {"tabs": tabs, "may": may_do, "now": database_now(), "administrative": words}
        return super().show(status, **common, **context)

    def page(self, rows: Any, descending: bool) -> Any:
        keys: dict[str, Any] = {
            name: self.request.GET.get(name, "") for name in ("after", "before")
        }
        return page_by_key(rows, **keys, size=PAGE, descending=descending)


class Names(PoolScreen):
    url_name = "pools"
    template_name = "console/pools/list.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        page = self.page(Pool.objects.all(), descending=False)
        present = Count("pk", filter=Q(state=Backend.State.PRESENT))
        counted = Backend.objects.filter(pool__in=page.rows).order_by().values_list("pool")
        found = {pool: counts for pool, *counts in counted.annotate(p=present, k=Count("pk"))}
        for pool in page.rows:
            pool.present, pool.known = found.get(pool.pk, (0, 0))
        return self.show(page=page)


class Backends(PoolScreen):
    url_name = "pools-backends"
    template_name = "console/pools/backends.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        rows = Backend.objects.select_related("pool")
        state = request.GET.get("state", "")
        if state in Backend.State.values:
            rows = rows.filter(state=state)
        page = self.page(rows, descending=False)
        shown = with_history(with_live(page.rows), database_now())
        return self.show(
            page=page,
            backends=shown,
            states=Backend.State.values,
            state=state,
            views=views_of(request, self.url_name),
        )


class Live(PoolScreen):
    url_name = "pools-live"
    template_name = "console/pools/live.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        found, now = reports(), database_now()
        return self.show(pools=live_pools(found, now), reports=found)
