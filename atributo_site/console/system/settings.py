"""Show the settings in groups with their sources, and the front page of the REST API."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.config.described import described_settings
from atributo_site.config.groups import grouped
from atributo_site.console.base.navigation import address
from atributo_site.console.system.health import SystemScreen
from atributo_site.pages.mount import prefix

LONGEST = 100


class Settings(SystemScreen):
    url_name = "system-settings"
    template_name = "console/system/settings.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        words = request.GET.get("q", "")[:LONGEST].lower().split()
        only_set = request.GET.get("set") == "yes"
        fitting = [
            setting
            for setting in described_settings()
            if (not only_set or setting["source"] != "default") and _holds(setting, words)
        ]
        return self.show(groups=grouped(fitting), text=" ".join(words), only_set=only_set)


def _holds(setting: dict[str, Any], words: list[str]) -> bool:
    """Look in name and sentence alone: a value may be a secret."""
    text = f"{setting['name']} {setting['sentence']}".lower()
    return all(word in text for word in words)


class RestApi(SystemScreen):
    url_name = "system-api"
    template_name = "console/system/api.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        top = f"{request.scheme}://{request.get_host()}{prefix()}"
        return self.show(top=top, docs=address("api-docs"), schema=address("api-schema"))
