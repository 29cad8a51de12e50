"""The addresses of the events screens."""

from django.urls import path

from atributo_site.console.events import views

urlpatterns = [
    path("events/", views.Events.as_view(), name="events"),
    path("events/stream", views.NoStream.as_view(), name="events-stream"),
]
