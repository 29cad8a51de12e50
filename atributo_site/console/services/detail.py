"""One service: its scripts and configuration; upgrade, develop, uninstall.

How setup and teardown of a service last ended, as its events tell.

Mounts in addresses: /services/mailer/ is the service at /mailer.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import register_converter

from atributo_site.console.base.screen import Screen
from atributo_site.console.push.schema_form import pretty
from atributo_site.console.services.list import REFUSALS
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.error_pages import failure
from queues.errors import BadService
from queues.models import Service
from queues.queries.presenters import configuration_dict
from queues.services import installation

SCRIPTS = ("setup", "teardown")
INSTALLED, FAILED = "service.installed", "service.script_failed"
TELLING = (INSTALLED, "service.upgraded", "service.replaced", FAILED)
LOOKED_AT = 50


@dataclass(frozen=True)
class Ended:
    script: str
    outcome: str
    at: datetime
    by: str
    error: str = ""


def last_endings(mount: str) -> list[Ended]:
    """At most one of each script; what an earlier service at the mount did is not told."""
    events = Event.objects.newest_first().filter(subject=f"service:{mount}", kind__in=TELLING)
    told = _of_this_one(list(events[:LOOKED_AT]))
    return [ended for script in SCRIPTS if (ended := _last(script, told))]


def _of_this_one(newest_first: list[Event]) -> list[Event]:
    """Back to its installation, with the failure that a forced one recorded just before."""
    for number, event in enumerate(newest_first):
        if event.kind == INSTALLED:
            has_failed = event.facts.get("setup") == "failed"
            return newest_first[: number + 1 + has_failed]
    return newest_first


def _last(script: str, events: list[Event]) -> Ended | None:
    for number, event in enumerate(events):
        if outcome := _outcome(script, event):
            errors = [each for each in events[number:] if _is_failure(script, each)]
            error = errors[0].facts.get("error", "") if outcome == "failed" and errors else ""
            return Ended(script, outcome, event.at, event.actor, error)
    return None


def _outcome(script: str, event: Event) -> str:
    return "failed" if _is_failure(script, event) else str(event.facts.get(script, ""))


def _is_failure(script: str, event: Event) -> bool:
    return event.kind == FAILED and event.facts.get("script") == script


PART = "[A-Za-z_][A-Za-z0-9_%-]*"


class MountConverter:
    """No part of a mount is «-», which therefore may follow one."""

    regex = f"{PART}(?:/{PART})*"

    def to_python(self, value: str) -> str:
        return f"/{value}"

    def to_url(self, value: str) -> str:
        return value.removeprefix("/")


register_converter(MountConverter, "mount")


class OneService(Screen):
    actions = {"GET": "service.view"}
    template_name = "console/services/detail.html"

    def get(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = service_or_none(mount)
        if service is None:
            return missing(request, mount)
        self.title = mount
        return self.show(
            now=database_now(),
            service=service,
            scripts=list(service.scripts.all()),
            configuration=configured(service),
            configuration_text=pretty(configuration_dict(service)),
            endings=last_endings(mount),
            events=Event.objects.newest_first().filter(subject=f"service:{mount}")[:10],
            may_administer=may(request.user, "service.administer"),
        )


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


def service_or_none(mount: str) -> Service | None:
    return Service.objects.prefetch_related("scripts").filter(mount=mount).first()


def missing(request: HttpRequest, mount: str) -> HttpResponse:
    return failure(request, 404, f"No service is installed at {mount}.")


def configured(service: Service) -> list[dict[str, Any]]:
    """Each option with its value, masked, and what it lacks."""
    values, warnings = configuration_dict(service), installation.warnings_of(service)
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
