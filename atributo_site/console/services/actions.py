"""Upgrade, configure and uninstall a service from its page."""

from typing import Any
from urllib.parse import quote

from django.http import HttpResponse
from django.urls import reverse

from atributo_site.console.base.actions import Action, Confirmation
from atributo_site.console.base.terminal import curl
from atributo_site.console.services.detail import service_or_404
from atributo_site.console.services.forms import limits_of, options_of
from atributo_site.console.services.list import REFUSALS
from atributo_site.console.services.script import script_or_404
from atributo_site.core.text import pluralize
from queues.logic.flow.limits import parsed
from queues.models import Script, Service
from queues.queries.flows import script_status
from queues.services import installation, script_limits


class ServiceAction(Action):
    actions = {"POST": "service.administer"}
    refusals = REFUSALS
    service: Service

    def load(self, mount: str) -> None:
        self.service = service_or_404(mount)

    def back(self) -> str:
        return reverse("atributo:service", args=[self.service.mount])


class Upgrade(ServiceAction):
    def act(self) -> str:
        upgraded = installation.upgrade(self.service.folder, self.service.mount)
        gone = self.service.configuration.keys() - upgraded.configuration.keys()
        told = f" These options no longer exist: {', '.join(sorted(gone))}." if gone else ""
        return f"Reloaded from its folder: {upgraded.name} {upgraded.version}.{told}"


class Development(ServiceAction):
    def act(self) -> str:
        on = self.request.POST.get("on") == "yes"
        installation.set_development(self.service.mount, on)
        return f"Development mode is {'on' if on else 'off'}."


class Configure(ServiceAction):
    def act(self) -> str:
        given = options_of(self.request.POST.get("configuration", ""))
        installation.configure(self.service.mount, given, whole=True)
        return "The configuration is saved."


class Limits(Action):
    """Set the limits of a script; the answer says what they concern now."""

    actions = {"POST": "service.administer"}
    refusals = REFUSALS
    script: Script

    def load(self, mount: str, name: str) -> None:
        self.script = script_or_404(mount, name)

    def back(self) -> str:
        return reverse("atributo:script", args=[self.script.service.mount, self.script.name])

    def act(self) -> str:
        mount, name = self.script.service.mount, self.script.name
        script_limits.set_limits(mount, name, limits_of(self.request.POST))
        said = script_or_404(mount, name).limits
        now = script_status(mount, name)
        return (
            f"{name}: {', '.join(limit.said() for limit in parsed(said)) or 'no limits'}. "
            f"{pluralize(now['running'], 'job runs', 'jobs run')} now, "
            f"{pluralize(now['keys_waiting'], 'flow key waits', 'flow keys wait')} for a limit."
        )


class Uninstall(Confirmation, ServiceAction):
    actions = {"GET": "service.administer", "POST": "service.administer"}
    template_name = "console/services/uninstall.html"
    gone_to = "atributo:services"
    title = "Uninstall"

    def question(self) -> dict[str, Any]:
        mount, count = self.service.mount, len(self.service.scripts.all())
        return {
            "crumbs": [("Services", reverse("atributo:services")), (mount, self.back())],
            "heading": f"Uninstall {mount}",
            "lead": f"Its teardown runs, then its {count} script{' is' if count == 1 else 's are'}"
            " removed. Waiting jobs of these scripts will fail when they start.",
            "button": f"Uninstall {mount}",
            "leave": "Cancel",
            "is_danger": True,
            "command": f"manage.py service uninstall {mount}",
            "rest": curl(f"/api/v1/services?mount={quote(mount, safe='')}", "DELETE"),
        }

    def act(self) -> str:
        mount = self.service.mount
        installation.uninstall(mount, force=bool(self.request.POST.get("force")))
        return f"{mount} is uninstalled."

    def refuse(self, error: Exception) -> HttpResponse:
        return self.ask(422, refusal=str(error))

    def after(self) -> str:
        return reverse("atributo:services")
