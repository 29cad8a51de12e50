"""List everything that happened, filtered by the address."""

from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.events.axis import axis
from atributo_site.console.events.failures import with_failures
from atributo_site.console.events.folding import (
    READ_FOR_A_PAGE,
    every_event,
    folded,
    page_by_people,
)
from atributo_site.console.events.forms import EventFilter
from atributo_site.console.events.severity import of_severity
from atributo_site.console.system.health import system_tabs
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.web.pagination import KeysetPage, page_by_key

PAGE = 50
MOVING = ("instance.jobs_moved", "instance.drained", "instance.drain_stuck")
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
        given = form.cleaned_data
        by_people = given["by"] == "people"
        page = self._page(form)
        return self.show(
            form=form,
            page=page,
            rows=with_failures(page, given, now),
            axis=axis(every_event(page.rows)),
            now=now,
            filtered=any(given.values()),
            by_people=by_people,
            moving=MOVING,
            tabs=system_tabs(request, "events") if by_people else None,
            same=None if by_people else same_list(REST, _rest_filter(form.cleaned_data)),
            views=views_of(request, "events"),
        )

    def _page(self, form: EventFilter) -> KeysetPage:
        """Fold before the page is cut, unless one kind is asked for, of which each is shown."""
        given, keys = form.cleaned_data, self.page_keys
        rows = form.filtered(Event.objects.all())
        if given["by"] == "people":
            return page_by_people(rows, given["severity"], **keys, size=PAGE)
        narrowed = partial(of_severity, severity=given["severity"])
        if given["kind"]:
            return page_by_key(rows, narrowed, **keys, size=PAGE)
        long = page_by_key(rows, narrowed, **keys, size=READ_FOR_A_PAGE)
        return folded(long, PAGE, backwards=bool(keys["before"]) and not keys["after"])


def _rest_filter(given: dict[str, Any]) -> dict[str, str]:
    """Return the filter as REST takes it, with ages such as 2h as moments."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in given.items()
        if value and name != "severity"
    }


class NoStream(Screen):
    """Answer 204, "poll instead", on a server that does not serve the stream before Django."""

    actions = {"GET": "event.view"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(status=204)
