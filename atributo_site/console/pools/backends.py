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
from atributo_site.console.pools.forms import AdministerForm
from pools.configuration import administer, still_held
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
