"""One timeline of everything that happened, filtered by the address."""

from datetime import datetime
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from allocation.models import Event
from allocation.models.clock import database_now
from atributo_site.console.moments import BadMoment, moment
from atributo_site.console.screen import Screen
from atributo_site.keyset import page_by_key

PAGE = 50


class EventFilter(forms.Form):
    """Empty fields do not filter; the times may be moments or ages such as 2h."""

    subject = forms.CharField(required=False, max_length=320)
    kind = forms.CharField(required=False, max_length=64)
    actor = forms.CharField(required=False, max_length=255)
    since = forms.CharField(required=False, max_length=40)
    until = forms.CharField(required=False, max_length=40)

    def __init__(self, *args: Any, now: datetime, **kwargs: Any) -> None:
        self.now = now
        super().__init__(*args, **kwargs)

    def clean_since(self) -> datetime | None:
        return self._moment("since")

    def clean_until(self) -> datetime | None:
        return self._moment("until")

    def filtered(self, events: QuerySet) -> QuerySet:
        names = {"since": "at__gte", "until": "at__lt"}
        given = {name: value for name, value in self.cleaned_data.items() if value}
        return events.filter(**{names.get(name, name): value for name, value in given.items()})

    def _moment(self, name: str) -> datetime | None:
        try:
            return moment(self.cleaned_data[name], self.now)
        except BadMoment as error:
            raise forms.ValidationError(str(error)) from error


class Events(Screen):
    actions = {"GET": "event.view"}
    template_name = "console/events.html"
    title = "Events"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        form = EventFilter(request.GET, now=now)
        if not form.is_valid():
            return self.show(400, form=form, page=None, now=now)
        page = page_by_key(
            form.filtered(Event.objects.all()),
            after=request.GET.get("after", ""),
            before=request.GET.get("before", ""),
            size=PAGE,
        )
        filtered = any(form.cleaned_data.values())
        return self.show(form=form, page=page, now=now, filtered=filtered)


class NoStream(Screen):
    """The stream is served before Django is asked; a server without it says «poll instead»."""

    actions = {"GET": "event.view"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(status=204)
