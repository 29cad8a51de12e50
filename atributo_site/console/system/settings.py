"""Show the settings with their sources, and the front page of the REST API."""

from django.http import HttpRequest, HttpResponse

from atributo_site.config.described import described_settings
from atributo_site.console.base.navigation import address
from atributo_site.console.system.health import SystemScreen
from atributo_site.pages.mount import prefix


class Settings(SystemScreen):
    url_name = "system-settings"
    template_name = "console/system/settings.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(settings=described_settings())


class RestApi(SystemScreen):
    url_name = "system-api"
    template_name = "console/system/api.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        top = f"{request.scheme}://{request.get_host()}{prefix()}"
        return self.show(top=top, docs=address("api-docs"), schema=address("api-schema"))
