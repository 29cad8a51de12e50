"""Saved views: the filters of a list under a name, each user's own."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.transaction import atomic
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse

from atributo_site.console.base.forms import form_errors
from atributo_site.console.base.screen import Screen
from atributo_site.core.events import record
from atributo_site.models import SavedView

SCREENS = (
    "allocations",
    "events",
    "instances",
    "jobs",
    "jobs-failures",
    "pools-backends",
    "pools-timeline",
    "transactions",
    "transactions-history",
    "transactions-locks",
)
LEFT_OUT = ("after", "before", "upto")  # where one was in the list
MOST = 50


class NewView(forms.Form):
    name = forms.CharField(max_length=60)
    screen = forms.ChoiceField(choices=[(name, name) for name in SCREENS])
    query = forms.CharField(label="Filters", max_length=1000, required=False)


class SaveView(Screen):
    """The same name again replaces what it stood for."""

    actions = {"POST": "overview.view"}

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewView(request.POST)
        if not form.is_valid():
            messages.error(request, f"The view is not saved. {form_errors(form)}")
            return HttpResponseRedirect(_list_of(form))
        own = SavedView.objects.filter(user_id=request.user.pk or 0)
        named = own.filter(screen=form.cleaned_data["screen"], name=form.cleaned_data["name"])
        query = kept(form.cleaned_data["query"])
        if own.count() >= MOST and not named.exists():
            messages.error(request, f"{MOST} views are enough: remove one first.")
        else:
            self._save(form, query)
        return HttpResponseRedirect(f"{_list_of(form)}?{query}")

    def _save(self, form: NewView, query: str) -> None:
        where: dict[str, Any] = {"user_id": self.request.user.pk}
        where |= {name: form.cleaned_data[name] for name in ("screen", "name")}
        with atomic():
            view, _ = SavedView.objects.update_or_create(**where, defaults={"query": query})
            _record("view.saved", view)
        messages.success(self.request, f"The view {form.cleaned_data['name']} is saved.")


class RemoveView(Screen):
    actions = {"POST": "overview.view"}

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        view = get_object_or_404(SavedView, pk=pk, user_id=request.user.pk)
        with atomic():
            _record("view.removed", view)
            view.delete()
        messages.success(request, f"The view {view.name} is removed.")
        return HttpResponseRedirect(reverse(view.screen))


def _record(kind: str, view: SavedView) -> None:
    """By its number: name and filters are its owner's own, and events are everybody's."""
    record(kind, f"view:{view.pk}", screen=view.screen)


def _list_of(form: NewView) -> str:
    """The list that is meant, if it is one of ours."""
    return reverse(form.cleaned_data.get("screen", "overview"))


def kept(query: str) -> str:
    """The filters alone, written by ourselves."""
    asked = QueryDict(query, mutable=True)
    for name in LEFT_OUT:
        asked.pop(name, None)
    return asked.urlencode()


def views_of(request: HttpRequest, screen: str) -> dict[str, Any]:
    """What the template shows: the user's views of this list, and what would be saved now."""
    query = kept(request.META.get("QUERY_STRING", ""))
    rows = SavedView.objects.filter(user=request.user.pk, screen=screen)[:MOST]
    shown = [{"row": row, "current": row.query == query} for row in rows]
    return {"screen": screen, "address": reverse(screen), "shown": shown, "query": query}
