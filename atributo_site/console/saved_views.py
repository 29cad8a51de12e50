"""Saved views: the filters of a list under a name, each user's own."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse

from atributo_site.console.screen import Screen
from atributo_site.models import SavedView

SCREENS = (
    "allocations",
    "events",
    "instances",
    "jobs",
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
    query = forms.CharField(max_length=1000, required=False)


class SaveView(Screen):
    """The same name again replaces what it stood for."""

    actions = {"POST": "overview.view"}

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewView(request.POST)
        if not form.is_valid():
            messages.error(request, "A view needs a name of at most 60 characters.")
            return HttpResponseRedirect(reverse("overview"))
        asked = form.cleaned_data
        given = {"query": kept(asked["query"])}
        where: dict[str, Any] = {"user_id": request.user.pk}
        where |= {"screen": asked["screen"], "name": asked["name"]}
        if SavedView.objects.filter(user_id=request.user.pk or 0).count() >= MOST:
            messages.error(request, f"{MOST} views are enough: remove one first.")
        else:
            SavedView.objects.update_or_create(**where, defaults=given)
            messages.success(request, f"The view {asked['name']} is saved.")
        return HttpResponseRedirect(f"{reverse(asked['screen'])}?{given['query']}")


class RemoveView(Screen):
    actions = {"POST": "overview.view"}

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        view = get_object_or_404(SavedView, pk=pk, user_id=request.user.pk)
        view.delete()
        messages.success(request, f"The view {view.name} is removed.")
        return HttpResponseRedirect(reverse(view.screen))


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
