"""The addresses of the services screens."""

from django.urls import path

import atributo_site.console.services.detail
import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.services import detail, list, script

SERVICE = "services/<mount:mount>/"

urlpatterns = [
    path("services/", list.Services.as_view(), name="services"),
    path(SERVICE, detail.OneService.as_view(), name="service"),
    path(f"{SERVICE}-/upgrade", detail.Upgrade.as_view(), name="service-upgrade"),
    path(f"{SERVICE}-/configure", detail.Configure.as_view(), name="service-configure"),
    path(f"{SERVICE}-/development", detail.Development.as_view(), name="service-development"),
    path(f"{SERVICE}-/uninstall", detail.Uninstall.as_view(), name="service-uninstall"),
    path(f"{SERVICE}-/scripts/<id:name>/", script.OneScript.as_view(), name="script"),
    path(f"{SERVICE}-/scripts/<id:name>/push", script.Push.as_view(), name="script-push"),
]
