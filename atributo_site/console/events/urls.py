"""Map the addresses of the events screens."""

from django.urls import path

from atributo_site.console.events import list

urlpatterns = [
    path("events/", list.Events.as_view(), name="events"),
    path("events/stream", list.NoStream.as_view(), name="events-stream"),
]
