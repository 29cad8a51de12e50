from django.contrib import admin
from django.urls import path

from atributo_site import health, probes

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", probes.Metrics.as_view(), name="metrics"),
    path("api/v1/snapshot", probes.Snapshot.as_view(), name="api-snapshot"),
    path("admin/", admin.site.urls),
]

handler400 = "atributo_site.failures.bad_request"
handler403 = "atributo_site.failures.forbidden"
handler404 = "atributo_site.failures.not_found"
handler500 = "atributo_site.failures.server_error"
