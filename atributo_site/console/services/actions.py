"""Upgrade, configure and uninstall a service."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from atributo_site.console.base.screen import Screen
from atributo_site.console.services.detail import missing, service_or_none
from atributo_site.console.services.list import REFUSALS
from queues.errors import BadService
from queues.models import Service
from queues.services import installation


class Change(Screen):
    """A button of the service's page; a refusal is told there."""

    actions = {"POST": "service.administer"}

    def post(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = service_or_none(mount)
        if service is None:
            return missing(request, mount)
        try:
            messages.success(request, self.change(service))
        except REFUSALS as error:
            messages.error(request, str(error))
        return redirect("service", mount)

    def change(self, service: Service) -> str:
        raise NotImplementedError


class Upgrade(Change):
    def change(self, service: Service) -> str:
        upgraded = installation.upgrade(service.folder, service.mount)
        return f"Read anew from its folder: {upgraded.name} {upgraded.version}."


class Development(Change):
    def change(self, service: Service) -> str:
        on = self.request.POST.get("on") == "yes"
        installation.set_development(service.mount, on)
        return f"Development mode is {'on' if on else 'off'}."


class Configure(Change):
    def change(self, service: Service) -> str:
        given = _object(self.request.POST.get("configuration", ""))
        installation.configure(service.mount, given, whole=True)
        return "The configuration is stored."


class Uninstall(Screen):
    actions = {"GET": "service.administer", "POST": "service.administer"}
    template_name = "console/services/uninstall.html"
    title = "Uninstall"

    def get(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = service_or_none(mount)
        if service is not None:
            return self.show(service=service)
        messages.warning(request, f"No service is installed at {mount}.")
        return redirect("services")

    def post(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = service_or_none(mount)
        if service is None:
            return missing(request, mount)
        try:
            installation.uninstall(mount, force=bool(request.POST.get("force")))
        except REFUSALS as error:
            return self.show(422, service=service, refusal=str(error))
        messages.success(request, f"{mount} is uninstalled.")
        return redirect("services")


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BadService(f"The configuration is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadService("The configuration must be a JSON object.")
    return value
