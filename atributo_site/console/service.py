"""One service: its scripts and configuration; upgrade, develop, uninstall."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from allocation.models import Event
from allocation.models.clock import database_now
from atributo_site.console.lifecycle import last_endings
from atributo_site.console.schema_form import pretty
from atributo_site.console.screen import Screen
from atributo_site.console.service_list import REFUSALS
from atributo_site.failures import failure
from atributo_site.permissions import may
from queues import installation
from queues.errors import BadService
from queues.models import Service
from queues.shown import configuration_shown


class OneService(Screen):
    actions = {"GET": "service.view"}
    template_name = "console/service.html"

    def get(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = found(mount)
        if service is None:
            return missing(request, mount)
        self.title = mount
        return self.show(
            now=database_now(),
            service=service,
            scripts=list(service.scripts.all()),
            configuration=configured(service),
            configuration_text=pretty(configuration_shown(service)),
            endings=last_endings(mount),
            events=Event.objects.newest_first().filter(subject=f"service:{mount}")[:10],
            may_administer=may(request.user, "service.administer"),
        )


class Change(Screen):
    """A button of the service's page; a refusal is told there."""

    actions = {"POST": "service.administer"}

    def post(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = found(mount)
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
    template_name = "console/service_uninstall.html"
    title = "Uninstall"

    def get(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = found(mount)
        if service is not None:
            return self.show(service=service)
        messages.warning(request, f"No service is installed at {mount}.")
        return redirect("services")

    def post(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = found(mount)
        if service is None:
            return missing(request, mount)
        try:
            installation.uninstall(mount, force=bool(request.POST.get("force")))
        except REFUSALS as error:
            return self.show(422, service=service, refusal=str(error))
        messages.success(request, f"{mount} is uninstalled.")
        return redirect("services")


def found(mount: str) -> Service | None:
    return Service.objects.prefetch_related("scripts").filter(mount=mount).first()


def missing(request: HttpRequest, mount: str) -> HttpResponse:
    return failure(request, 404, f"No service is installed at {mount}.")


def configured(service: Service) -> list[dict[str, Any]]:
    """Each option with its value, masked, and what it lacks."""
    values, warnings = configuration_shown(service), installation.warnings_of(service)
    return [
        {
            "name": name,
            "type": definition["type"],
            "description": definition.get("description", ""),
            "value": values.get(name),
            "warning": warnings.get(name, ""),
        }
        for name, definition in service.definitions.items()
    ]


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BadService(f"The configuration is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadService("The configuration must be a JSON object.")
    return value
