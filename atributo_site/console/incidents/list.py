"""List what is wrong now, and what was wrong in the chosen time."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.incidents.forms import IncidentFilter
from atributo_site.core.models.clock import database_now
from atributo_site.incidents.cures import button_of
from atributo_site.incidents.listing import Incidents, incidents
from atributo_site.models import Incident
from atributo_site.permissions import may
from atributo_site.status.screens import screen_of


class IncidentList(Screen):
    actions = {"GET": "incident.view"}
    template_name = "console/incidents/list.html"
    is_shared = True
    title = "Incidents"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        form = IncidentFilter(request.GET, now=now)
        if not form.is_valid():
            return self.show(400, form=form, now=now)
        found = incidents(now, **form.cleaned_data)
        return self.show(
            form=form,
            open=lines(found.open, request.user),
            resolved=lines(found.resolved, request.user),
            more=found.more,
            filtered=any(form.cleaned_data.values()),
            now=now,
            may_acknowledge=may(request.user, "incident.acknowledge"),
            **_number(found, form),
            **_equivalents(form),
        )


def lines(rows: list[Incident], user: Any) -> list[dict[str, Any]]:
    return [
        {"row": row, "screen": screen_of(row.kind, row.subject), "button": button_of(row, user)}
        for row in rows
    ]


def _number(found: Incidents, form: IncidentFilter) -> dict[str, Any]:
    """Return what the navigation says, unless a filter hides some."""
    if form.cleaned_data["severity"] or form.cleaned_data["until"]:
        return {}
    return {"open_incidents": sum(row.state == "open" for row in found.open)}


def _equivalents(form: IncidentFilter) -> dict[str, Any]:
    given = form.cleaned_data
    moments = {name: given[name].isoformat() for name in ("since", "until") if given[name]}
    filters = {"severity": given["severity"], **moments}
    flags = {f"--{name}": text for name, text in filters.items()}
    return same_list("/api/v1/incidents", filters, "manage.py incidents list", flags)
