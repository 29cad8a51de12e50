from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from atributo_site import api, health, probes
from atributo_site.console.favicon import favicon
from atributo_site.rest import openapi

API: list[URLPattern | URLResolver] = [
    path("schema", openapi.Schema.as_view(), name="api-schema"),
    path("docs", openapi.Docs.as_view(), name="api-docs"),
    path("me", api.Me.as_view(), name="api-me"),
    path("events", api.Events.as_view(), name="api-events"),
    path("tokens", api.Tokens.as_view(), name="api-tokens"),
    path("tokens/<int:pk>", api.Token.as_view(), name="api-token"),
    path("", include("allocation.urls")),
    path("", include("pools.urls")),
    path("", include("allocation.transactions.urls")),
    path("", include("queues.urls")),
    path("snapshot", probes.Snapshot.as_view(), name="api-snapshot"),
]

urlpatterns = [
    path("", include("atributo_site.console.urls")),
    path("api/v1/", include(API)),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", probes.Metrics.as_view(), name="metrics"),
    path("favicon.ico", favicon, name="favicon"),
    path("admin/", admin.site.urls),
]

handler400 = "atributo_site.failures.bad_request"
handler403 = "atributo_site.failures.forbidden"
handler404 = "atributo_site.failures.not_found"
handler500 = "atributo_site.failures.server_error"
