"""Map the addresses of the services screens; /services/mailer/ is the service at /mailer.

/services/py:shop.tasks/ has the declared functions of that module.
"""

from django.urls import path, register_converter

import atributo_site.rest.ids  # noqa: F401  registers <id:...>
from atributo_site.console.services import actions, detail, list, script

FUNCTIONS = "py:"
PART = "[A-Za-z_][A-Za-z0-9_%-]*"


class MountConverter:
    """Convert a mount; no part of it is "-", so an address may go on with "-"."""

    regex = f"(?:{FUNCTIONS}[A-Za-z0-9_.]+|{PART}(?:/{PART})*)"

    def to_python(self, value: str) -> str:
        is_module = value.startswith(FUNCTIONS)
        return value.removeprefix(FUNCTIONS) if is_module else f"/{value}"

    def to_url(self, value: str) -> str:
        return value.removeprefix("/") if value.startswith("/") else f"{FUNCTIONS}{value}"


register_converter(MountConverter, "mount")
SERVICE = "services/<mount:mount>/"

urlpatterns = [
    path("services/", list.Services.as_view(), name="services"),
    path(SERVICE, detail.OneService.as_view(), name="service"),
    path(f"{SERVICE}-/upgrade", actions.Upgrade.as_view(), name="service-upgrade"),
    path(f"{SERVICE}-/configure", actions.Configure.as_view(), name="service-configure"),
    path(f"{SERVICE}-/development", actions.Development.as_view(), name="service-development"),
    path(f"{SERVICE}-/uninstall", actions.Uninstall.as_view(), name="service-uninstall"),
    path(f"{SERVICE}-/scripts/<id:name>/", script.OneScript.as_view(), name="script"),
    path(f"{SERVICE}-/scripts/<id:name>/limits", actions.Limits.as_view(), name="script-limits"),
    path(f"{SERVICE}-/scripts/<id:name>/push", script.Push.as_view(), name="script-push"),
]
