"""List the watched names, their backends and the live pools, each on a tab."""

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import TabbedScreen
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key
from pools.models import Backend, Pool
from pools.reporting.live_view import live_pools, reports, with_live
from pools.timeline import with_history

PAGE = 50


class PoolScreen(TabbedScreen):
    actions = {"GET": "pool.view"}
    title = "Pools & DNS"
    tabs = {
        "pools": "Names",
        "pools-backends": "Backends",
        "pools-timeline": "Timeline",
        "pools-live": "Live pools",
        "pools-look-up": "Lookup",
    }

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        may_do = {verb: may(self.request.user, f"pool.{verb}") for verb in ("operate", "change")}
        words = Backend.Administrative.values
        common = {"may": may_do, "now": database_now(), "administrative": words}
        return super().show(status, **common, **context)

    def tab_list(self) -> list[dict[str, Any]]:
        tabs = super().tab_list()
        return tabs if may(self.request.user, "dns.look_up") else tabs[:-1]


class Names(PoolScreen):
    url_name = "pools"
    template_name = "console/pools/list.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        page = page_by_key(Pool.objects.all(), **self.page_keys, size=PAGE, descending=False)
        present = Count("pk", filter=Q(state=Backend.State.PRESENT))
        grouped = Backend.objects.filter(pool__in=page.rows).order_by().values_list("pool")
        counts = {pool: pair for pool, *pair in grouped.annotate(p=present, k=Count("pk"))}
        for pool in page.rows:
            pool.present, pool.known = counts.get(pool.pk, (0, 0))
        return self.show(page=page)


class Backends(PoolScreen):
    url_name = "pools-backends"
    template_name = "console/pools/backends.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        rows = Backend.objects.select_related("pool")
        state = request.GET.get("state", "")
        if state in Backend.State.values:
            rows = rows.filter(state=state)
        page = page_by_key(rows, **self.page_keys, size=PAGE, descending=False)
        return self.show(
            page=page,
            backends=with_history(with_live(page.rows), database_now()),
            states=Backend.State.values,
            state=state,
            views=views_of(request, self.url_name),
        )


class Live(PoolScreen):
    url_name = "pools-live"
    template_name = "console/pools/live.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        newest = reports()
        return self.show(pools=live_pools(newest, database_now()), reports=newest)
