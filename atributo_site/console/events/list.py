"""List everything that happened, filtered by the address."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django import forms
from django.db.models import Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from atributo_site.console.base.forms import PeriodForm
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.events.axis import axis
from atributo_site.console.events.folding import (
    READ_FOR_A_PAGE,
    Steps,
    every_event,
    folded,
    page_by_people,
)
from atributo_site.console.events.sentences import failures_sentence
from atributo_site.console.events.severity import of_severity
from atributo_site.console.system.health import system_tabs
from atributo_site.core.incidents.symptom import Severity
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.web.pagination import KeysetPage, page_by_key
from queues.queries.failures import groups_between

PAGE = 50
MOVING = ("instance.jobs_moved", "instance.drained", "instance.drain_stuck")
REST = "/api/v1/events"
MOST_GROUPS = 20
MOMENT = timedelta(microseconds=1)
NARROWING = ("subject", "kind", "actor", "by")  # failed jobs have none of these
SEVERITIES = [("", "any"), *((each.value, each.value) for each in Severity)]
APART = {"by", "severity"}  # they are no columns


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

    def _page(self, form: "EventFilter") -> KeysetPage:
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


@dataclass(frozen=True)
class Failures:
    """One error of several jobs, shown like an event at the moment of the last one."""

    at: datetime
    sentence: str
    address: str  # of the list of exactly these jobs
    severity = Severity.ERROR


def with_failures(
    page: KeysetPage, given: dict[str, Any], now: datetime
) -> list[Event | Steps | Failures]:
    """Return the rows of the page with the failures of its time, newest first."""
    if any(given[name] for name in NARROWING) or given["severity"] not in ("", Severity.ERROR):
        return page.rows
    since, until = _time_of(page, given)
    found = groups_between(since, until, MOST_GROUPS)
    rows = [*page.rows, *(_failures(group, since, until, now) for group in found)]
    return sorted(rows, key=lambda row: row.at, reverse=True) if found else page.rows


def _time_of(page: KeysetPage, given: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """Return the time that the page tells of; the first one goes on to now, the last one to all."""
    moments = [event.at for event in every_event(page.rows)]
    since = min(moments) if page.after and moments else given["since"]
    until = max(moments) + MOMENT if page.before and moments else given["until"]
    return since, until


def _failures(
    group: dict[str, Any], since: datetime | None, until: datetime | None, now: datetime
) -> Failures:
    period = {
        name: moment.isoformat() for name, moment in (("since", since), ("until", until)) if moment
    }
    asked = {"state": "failed", "fingerprint": group["fingerprint"], **period}
    seconds = (group["last"] - group["first"]).total_seconds()
    return Failures(
        group["last"],
        failures_sentence(group["count"], group["error"], seconds),
        f"{reverse('atributo:jobs')}?{urlencode(asked)}",
    )


class EventFilter(PeriodForm):
    """Filter events by subject, kind, actor, severity and time, such as 2h."""

    period_field = "at"

    subject = forms.CharField(required=False, max_length=320)
    kind = forms.CharField(required=False, max_length=64)
    actor = forms.CharField(required=False, max_length=255)
    severity = forms.ChoiceField(required=False, choices=SEVERITIES)
    by = forms.ChoiceField(required=False, choices=[("", "anybody"), ("people", "people")])

    def filtered(self, rows: Any) -> Any:
        """Narrow the keys first: pages follow the key, and a time long ago would be far away."""
        given = {name: value for name, value in self.cleaned_data.items() if name not in APART}
        rows = rows.near(given["since"], given["until"])
        if not given["subject"]:
            return self.compared(rows, given)
        # One subject is narrower than one kind, but SQLite has no statistics to know it.
        kind = given.pop("kind")
        rows = rows.alias(its_kind=Coalesce("kind", Value("")))
        return self.compared(rows.filter(its_kind=kind) if kind else rows, given)
