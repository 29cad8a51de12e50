"""List everything that happened, filtered by the address."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.events.axis import axis
from atributo_site.console.events.folding import fold_events, page_by_people
from atributo_site.console.events.forms import EventFilter
from atributo_site.console.system.health import system_tabs
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.web.pagination import page_by_key

PAGE = 50
REST = "/api/v1/events"


class Events(Screen):
    actions = {"GET": "event.view"}
    template_name = "console/events/list.html"
    is_shared = True
    title = "Events"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        form = EventFilter(request.GET, now=now)
        if not form.is_valid():
            return self.show(400, form=form, page=None, now=now, same=same_list(REST, {}))
        by_people = form.cleaned_data["by"] == "people"
        page_of = page_by_people if by_people else page_by_key
        page = page_of(
            form.filtered(Event.objects.all()),
            **self.page_keys,
            size=PAGE,
        )
        return self.show(
            form=form,
            page=page,
            rows=page.rows if form.cleaned_data.get("kind") else fold_events(page.rows),
            axis=axis(page.rows),
            now=now,
            filtered=any(form.cleaned_data.values()),
            by_people=by_people,
            tabs=system_tabs(request, "events") if by_people else None,
            same=None if by_people else same_list(REST, _rest_filter(form.cleaned_data)),
            views=views_of(request, "events"),
        )


def _rest_filter(given: dict[str, Any]) -> dict[str, str]:
    """Return the filter as REST takes it, with ages such as 2h as moments."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in given.items()
        if value
    }


class NoStream(Screen):
    """Answer 204, "poll instead", on a server that does not serve the stream before Django."""

    actions = {"GET": "event.view"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(status=204)
