"""What a person decides about one backend, wherever it is listed."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme

from allocation.models import Instance
from atributo_site.console.base.forms import said
from atributo_site.console.base.screen import Screen
from atributo_site.console.pools.forms import AdministerForm, ChangePoolForm, PoolForm
from atributo_site.console.pools.list import PoolScreen
from atributo_site.web.pagination import whole
from pools import configuration
from pools.configuration import administer, pool_named, still_held
from pools.models import Backend

NO_NEW = "{}: {}. It gets no new job ids; those it has stay"
BY_DRAIN = (
    NO_NEW + ' until they are deallocated, or until you <a href="{}">give the drain a pace</a>.'
)


class Administer(Screen):
    actions = {"POST": "pool.operate"}

    def post(self, request: HttpRequest, name: str, key: str) -> HttpResponse:
        form = AdministerForm(request.POST)
        if not form.is_valid():
            messages.error(request, said(form))
            return _back(request, name)
        backend = administer(name, key, **form.cleaned_data)
        messages.success(request, _what_it_means(backend))
        if warning := still_held(backend):
            messages.warning(request, warning)
        return _back(request, name)


def _what_it_means(backend: Backend) -> str:
    """As far as the instance is there and does as it was told."""
    word, where = backend.administrative, backend.instance_id
    row = Instance.objects.select_related("drain").filter(pk=where).first()
    state = "" if row is None else row.state
    if (word, state) == (Backend.Administrative.DRAIN, "draining"):
        return format_html(BY_DRAIN, where, word, reverse("instance", args=[where]))
    if (word, state) == (Backend.Administrative.MAINTENANCE, "unavailable"):
        return NO_NEW.format(where, word) + "."
    return f"{where}: {word}."


def _back(request: HttpRequest, name: str) -> HttpResponse:
    """To the list where the button was pressed."""
    page = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(
        page, {request.get_host()}, require_https=request.is_secure()
    )
    return redirect(page) if ours else redirect("pool", name)


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
