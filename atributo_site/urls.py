from django.contrib import admin
from django.urls import include, path

from atributo_site import health
from atributo_site.console.favicon import favicon

urlpatterns = [
    path("", include("atributo_site.console.urls")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("favicon.ico", favicon, name="favicon"),
    path("admin/", admin.site.urls),
]

handler400 = "atributo_site.failures.bad_request"
handler403 = "atributo_site.failures.forbidden"
handler404 = "atributo_site.failures.not_found"
handler500 = "atributo_site.failures.server_error"
