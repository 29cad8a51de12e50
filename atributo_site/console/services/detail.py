"""Show one service: its scripts, its configuration, and how setup and teardown last ended."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.screen import Screen
from atributo_site.core.errors import AtributoError
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.format import pretty_json
from queues.models import Service
from queues.queries.presenters import configuration_dict
from queues.services import installation

SCRIPTS = ("setup", "teardown")
INSTALLED, FAILED = "service.installed", "service.script_failed"
LIFECYCLE = (INSTALLED, "service.upgraded", "service.replaced", FAILED)
LOOKED_AT = 50


class OneService(Screen):
    actions = {"GET": "service.view"}
    template_name = "console/services/detail.html"

    def get(self, request: HttpRequest, mount: str) -> HttpResponse:
        service = service_or_404(mount)
        self.title = mount
        return self.show(
            now=database_now(),
            service=service,
            scripts=list(service.scripts.all()),
            configuration=configuration_rows(service),
            configuration_text=pretty_json(configuration_dict(service)),
            endings=last_endings(mount),
            events=Event.objects.newest_first().filter(subject=f"service:{mount}")[:10],
            may_administer=may(request.user, "service.administer"),
        )


class NotInstalled(AtributoError):
    """The address names a mount without a service."""

    status_code = 404


def service_or_404(mount: str) -> Service:
    service = Service.objects.prefetch_related("scripts").filter(mount=mount).first()
    if service is None:
        raise NotInstalled(f"No service is installed at {mount}.")
    return service


def configuration_rows(service: Service) -> list[dict[str, Any]]:
    """Return each option with its masked value and what is wrong with it."""
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


@dataclass(frozen=True)
class Ended:
    script: str
    outcome: str
    at: datetime
    by: str
    error: str = ""


def last_endings(mount: str) -> list[Ended]:
    """Return the last end of each script, but not of an earlier service at the same mount."""
    events = Event.objects.newest_first().filter(subject=f"service:{mount}", kind__in=LIFECYCLE)
    own = _since_installation(list(events[:LOOKED_AT]))
    return [ended for script in SCRIPTS if (ended := _last(script, own))]


def _since_installation(newest_first: list[Event]) -> list[Event]:
    """Drop the events before the installation, but keep the failure that a forced one recorded."""
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
