"""Save the filters of a list under a name, for each user alone."""

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
LEFT_OUT = ("after", "before", "upto")  # the position in the list
MOST = 50


class NewView(forms.Form):
    name = forms.CharField(max_length=60)
    screen = forms.ChoiceField(choices=[(name, name) for name in SCREENS])
    query = forms.CharField(label="Filters", max_length=1000, required=False)


class SaveView(Screen):
    """Save a view; a name that exists is replaced."""

    actions = {"POST": "overview.view"}

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewView(request.POST)
        if not form.is_valid():
            messages.error(request, f"The view was not saved. {form_errors(form)}")
            return HttpResponseRedirect(_list_of(form))
        own = SavedView.objects.filter(user_id=request.user.pk or 0)
        named = own.filter(screen=form.cleaned_data["screen"], name=form.cleaned_data["name"])
        query = filters_of(form.cleaned_data["query"])
        if own.count() >= MOST and not named.exists():
            messages.error(request, f"You can save up to {MOST} views. Remove one first.")
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
        return HttpResponseRedirect(reverse(f"atributo:{view.screen}"))


def _record(kind: str, view: SavedView) -> None:
    """Record only its number: everybody may read events, but not the owner's name and filters."""
    record(kind, f"view:{view.pk}", screen=view.screen)


def _list_of(form: NewView) -> str:
    """Return the list that the form names, if there is such a list."""
    return reverse(f"atributo:{form.cleaned_data.get('screen', 'overview')}")


def filters_of(query: str) -> str:
    """Return only the filters of a query string, encoded anew."""
    asked = QueryDict(query, mutable=True)
    for name in LEFT_OUT:
        asked.pop(name, None)
    return asked.urlencode()


def views_of(request: HttpRequest, screen: str) -> dict[str, Any]:
    """Return the user's views of this list, and the filters that would be saved now."""
    query = filters_of(request.META.get("QUERY_STRING", ""))
    rows = SavedView.objects.filter(user=request.user.pk, screen=screen)[:MOST]
    views = [{"row": row, "current": row.query == query} for row in rows]
    return {
        "screen": screen,
        "address": reverse(f"atributo:{screen}"),
        "views": views,
        "query": query,
    }
