"""Pools & DNS: watched names, their backends, and live pools."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from atributo_site.console.base.navigation import address
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.pools.forms import ChangePoolForm, PoolForm
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key, whole
from pools import configuration
from pools.configuration import pool_named
from pools.models import Backend, BackendChange, Pool
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
MOST_ON_A_PAGE = 100


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


class OneName(PoolScreen):
    template_name = "console/pools/detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        pool = pool_named(name)
        changes = BackendChange.objects.filter(pool=pool).order_by("-id")[:10]
        backends = pool.backends.order_by("state", "id")[:MOST_ON_A_PAGE]
        shown = with_history(with_live(backends), database_now())
        return self.show(pool=pool, backends=shown, changes=changes, title=pool.name)


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


class NewName(PoolScreen):
    actions = {"GET": "pool.change", "POST": "pool.change"}
    template_name = "console/pools/form.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(form=PoolForm(), pool=None)

    def post(self, request: HttpRequest) -> HttpResponse:
        form = PoolForm(request.POST)
        if not form.is_valid():
            return self.show(400, form=form, pool=None)
        pool = configuration.watch(**form.cleaned_data)
        messages.success(request, f"{pool.name} is watched as soon as a curator is active.")
        return redirect(pool)


class ChangeName(PoolScreen):
    actions = {"GET": "pool.change", "POST": "pool.change"}
    template_name = "console/pools/form.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        pool = pool_named(name)
        return self.show(form=ChangePoolForm(instance=pool), pool=pool, epoch=pool.epoch)

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        pool = pool_named(name)
        seen = whole(request.POST.get("epoch", ""))
        form = ChangePoolForm(request.POST, instance=pool)
        if not form.is_valid():
            return self.show(400, form=form, pool=pool, epoch=seen)  # not what came in between
        configuration.change(name, seen, **form.cleaned_data)
        messages.success(request, f"{name} is changed; the watcher starts anew with it.")
        return redirect("pool", name)


class Pause(Screen):
    """Watch no longer, or again; instances stay as they are meanwhile."""

    actions = {"POST": "pool.operate"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        pool = configuration.change(name, is_watched=request.POST.get("watch") == "yes")
        messages.success(request, f"{name} is {'watched again' if pool.is_watched else 'paused'}.")
        return redirect("pool", name)


class AskNow(Screen):
    actions = {"POST": "pool.operate"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        try:
            configuration.ask_now(name)
        except (configuration.AskedTooOften, configuration.PoolPaused) as error:
            messages.warning(request, f"{error}.")
        else:
            messages.success(request, f"{name} is looked up now.")
        return redirect("pool", name)


class Forget(Screen):
    actions = {"POST": "pool.change"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        pool_named(name)
        if request.POST.get("typed") != name:
            messages.error(request, f"Nothing happened: type {name} to forget it.")
            return redirect("pool", name)
        configuration.forget(name)
        messages.success(request, f"{name} is watched no longer; its instances stay as they are.")
        return redirect("pools")
