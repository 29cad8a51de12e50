"""The addresses of a site of its own: those of `urls` at the root, raw lists, pages of failures."""

from django.contrib import admin
from django.urls import include, path

admin.autodiscover()

urlpatterns = [
    path("", include("atributo_site.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "atributo_site.web.error_pages.bad_request"
handler403 = "atributo_site.web.error_pages.forbidden"
handler404 = "atributo_site.web.error_pages.not_found"
handler500 = "atributo_site.web.error_pages.server_error"
