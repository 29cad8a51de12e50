"""Watch, change, pause, look up and forget a name, and administer one of its backends."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from allocation.models import Instance
from atributo_site.console.base.actions import Action, NothingChanged
from atributo_site.console.base.forms import BadForm, checked
from atributo_site.console.base.screen import own_page
from atributo_site.console.pools.forms import AdministerForm, ChangePoolForm, PoolForm
from atributo_site.console.pools.list import PoolScreen
from atributo_site.web.pagination import whole
from pools import configuration
from pools.configuration import administer, pool_named, still_held
from pools.models import Backend

NO_NEW = "{}: {}. It gets no new keys and keeps those it has"
BY_DRAIN = (
    NO_NEW + ' until they are deallocated, or until you <a href="{}">give the drain a pace</a>.'
)


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
        messages.success(request, f"{pool.name} is watched as long as a curator is active.")
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
            return self.show(400, form=form, pool=pool, epoch=seen)  # the epoch that was seen
        configuration.change(name, seen, **form.cleaned_data)
        messages.success(request, f"{name} is saved. The watcher restarts with the new settings.")
        return redirect("atributo:pool", name)


class PoolAction(Action):
    actions = {"POST": "pool.operate"}
    refusals = (BadForm,)

    def load(self, name: str, **names: Any) -> None:
        self.name = name

    def back(self) -> str:
        return reverse("atributo:pool", args=[self.name])


class Pause(PoolAction):
    """Stop watching a name, or watch it again; its instances stay as they are meanwhile."""

    def act(self) -> str:
        is_watched = self.request.POST.get("watch") == "yes"
        pool = configuration.change(self.name, is_watched=is_watched)
        return f"{self.name} is {'watched again' if pool.is_watched else 'paused'}."


class LookUpNow(PoolAction):
    def act(self) -> str:
        try:
            configuration.ask_now(self.name)
        except (configuration.AskedTooOften, configuration.PoolPaused) as error:
            raise NothingChanged(f"{error}.") from error
        return f"{self.name} is being looked up now."


class Forget(PoolAction):
    actions = {"POST": "pool.change"}

    def post(self, request: HttpRequest, **names: Any) -> HttpResponse:
        self.load(**names)
        pool_named(self.name)
        if request.POST.get("typed") == self.name:
            return self.perform()
        return self.refuse(BadForm(f"Nothing changed. To stop watching, type {self.name}."))

    def act(self) -> str:
        configuration.forget(self.name)
        return f"{self.name} is no longer watched. Its instances stay as they are."

    def after(self) -> str:
        return reverse("atributo:pools")


class Administer(PoolAction):
    """Store what a person decides about one backend, wherever it is listed."""

    def load(self, name: str, **names: Any) -> None:
        self.name, self.key = name, names["key"]

    def act(self) -> str:
        form = checked(AdministerForm(self.request.POST))
        backend = administer(self.name, self.key, **form.cleaned_data)
        self.warning = still_held(backend)
        return _consequence(backend)

    def after(self) -> str:
        if self.warning:
            messages.warning(self.request, self.warning)
        return self.back()

    def back(self) -> str:
        """Lead to the list where the button was pressed."""
        return own_page(self.request, self.request.POST.get("next", ""), super().back())


def _consequence(backend: Backend) -> str:
    """Say what the decision means, as far as the instance exists and follows it."""
    word, where = backend.administrative, backend.instance_id
    row = Instance.objects.select_related("drain").filter(pk=where).first()
    state = "" if row is None else row.state
    if (word, state) == (Backend.Administrative.DRAIN, "draining"):
        return format_html(BY_DRAIN, where, word, reverse("atributo:instance", args=[where]))
    if (word, state) == (Backend.Administrative.MAINTENANCE, "unavailable"):
        return NO_NEW.format(where, word) + "."
    return f"{where}: {word}."
