"""Show one incident with its history, and acknowledge it."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from atributo_site.console.base.actions import Action
from atributo_site.console.base.forms import BadForm, checked
from atributo_site.console.base.screen import Screen
from atributo_site.console.incidents.forms import NoteForm
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.incidents import rows
from atributo_site.models import LONGEST_NOTE
from atributo_site.permissions import may
from atributo_site.status.screens import screen_of

MOST_EVENTS = 20


class OneIncident(Screen):
    actions = {"GET": "incident.view"}
    template_name = "console/incidents/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        row = rows.incident_or_404(pk)
        self.title = f"Incident {pk}"
        return self.show(
            row=row,
            screen=screen_of(row.kind, row.subject),
            events=Event.objects.about(f"incident:{pk}").newest_first()[:MOST_EVENTS],
            longest_note=LONGEST_NOTE,
            now=database_now(),
            may_acknowledge=may(request.user, "incident.acknowledge"),
        )


class Acknowledge(Action):
    actions = {"POST": "incident.acknowledge"}
    refusals = (rows.IncidentNotOpen, BadForm)

    def load(self, pk: int) -> None:
        self.row = rows.incident_or_404(pk)

    def act(self) -> str:
        form = checked(NoteForm(self.request.POST))
        rows.acknowledge(self.row.pk, form.cleaned_data["note"])
        return "Acknowledged: it stays on the list until its cause is gone."

    def back(self) -> str:
        return reverse("atributo:incident", args=[self.row.pk])
