"""Map the addresses of incidents."""

from django.urls import path

from atributo_site.console.incidents import detail, list

INCIDENT = "incidents/<int:pk>/"

urlpatterns = [
    path("incidents/", list.IncidentList.as_view(), name="incidents"),
    path(INCIDENT, detail.OneIncident.as_view(), name="incident"),
    path(f"{INCIDENT}acknowledge", detail.Acknowledge.as_view(), name="incident-acknowledge"),
]
