"""Every address of ours: REST by room, then the screens. A project includes it at any prefix."""

from django.urls import URLPattern, URLResolver, include, path

from atributo_site import api
from atributo_site.console.base.theme import favicon
from atributo_site.incidents import api as incidents
from atributo_site.rest import openapi
from atributo_site.status import metrics, probes

app_name = "atributo"

API: list[URLPattern | URLResolver] = [
    path("schema", openapi.Schema.as_view(), name="api-schema"),
    path("docs", openapi.Docs.as_view(), name="api-docs"),
    path("me", api.Me.as_view(), name="api-me"),
    path("events", api.Events.as_view(), name="api-events"),
    path("incidents", incidents.Incidents.as_view(), name="api-incidents"),
    path("incidents/<int:pk>", incidents.OneIncident.as_view(), name="api-incident"),
    path(
        "incidents/<int:pk>/acknowledge",
        incidents.Acknowledge.as_view(),
        name="api-incident-acknowledge",
    ),
    path("tokens", api.Tokens.as_view(), name="api-tokens"),
    path("tokens/<int:pk>", api.Token.as_view(), name="api-token"),
    path("", include("allocation.urls")),
    path("", include("pools.urls")),
    path("", include("allocation.transactions.urls")),
    path("", include("queues.urls")),
    path("snapshot", probes.Snapshot.as_view(), name="api-snapshot"),
]

urlpatterns = [
    path("api/v1/", include(API)),
    path("", include("atributo_site.console.urls")),
    path("healthz", probes.healthz, name="healthz"),
    path("readyz", probes.readyz, name="readyz"),
    path("metrics", metrics.Metrics.as_view(), name="metrics"),
    path("favicon.ico", favicon, name="favicon"),
]
