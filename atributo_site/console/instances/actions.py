"""Change an instance from its page: availability, drain, settings, removal."""

from shlex import quote as shell_quote
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from allocation.instances import availability
from allocation.instances.holds import may_remove
from allocation.placement import drains, operations
from atributo_site.console.base.actions import Action, Confirmation
from atributo_site.console.base.forms import checked, reason_of
from atributo_site.console.base.terminal import curl
from atributo_site.console.instances import drain
from atributo_site.console.instances.detail import instance_or_404
from atributo_site.console.instances.forms import DrainForm, SettingsForm
from atributo_site.core.errors import AtributoError
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import pluralize
from atributo_site.web.pagination import whole

VERBS = ("available", "unavailable", "restore", "drain", "stop", "force", "settings")


class ChangeInstance(Action):
    """POST instances/ID/VERB; each verb is a method that returns what to tell."""

    actions = {"POST": "instance.operate"}
    refusals = (AtributoError,)

    def post(self, request: HttpRequest, **names: Any) -> HttpResponse:
        self.load(**names)
        if self.verb == "drain" and "preview" in request.POST:
            typed = _filled_in(request)
            return redirect(
                reverse("atributo:instance", args=[self.id], query={"plan": "", **typed})
            )
        return self.perform()

    def load(self, instance_id: str, verb: str) -> None:
        self.id, self.verb = instance_or_404(instance_id).pk, verb
        if verb not in VERBS:
            raise Http404

    def act(self) -> str:
        return getattr(self, f"_{self.verb}")()

    def back(self) -> str:
        return reverse("atributo:instance", args=[self.id])

    def _available(self) -> str:
        retry_busy(lambda: availability.make_available(self.id))
        return "The instance accepts new keys again."

    def _unavailable(self) -> str:
        reason = reason_of(self.request, 255)
        retry_busy(lambda: availability.make_unavailable(self.id, reason=reason))
        return "The instance gets no new keys and keeps those it has."

    def _restore(self) -> str:
        retry_busy(lambda: availability.restore(self.id))
        return "The instance is available again, and its source decides about it from now on."

    def _drain(self) -> str:
        change = drain.adjust if "running" in self.request.POST else drain.begin
        return change(self.id, self.request.POST)

    def _stop(self) -> str:
        retry_busy(lambda: drains.stop(self.id))
        return "The drain is stopped. The instance stays unavailable."

    def _force(self) -> str:
        drains.force(self.id)
        return "The curator will move all remaining keys now."

    def _settings(self) -> str:
        """Refuse if somebody else changed the instance since the page was read."""
        settings = checked(SettingsForm(self.request.POST)).cleaned_data
        seen = whole(self.request.POST.get("epoch", ""))
        retry_busy(lambda: availability.configure(self.id, epoch=seen, **settings))
        return "Weight and capacity are saved. Placed keys stay where they are."


class NotConfirmed(AtributoError):
    """The id was not typed as it is."""

    status_code = 400


class RemoveInstance(Confirmation):
    """Ask for the id, typed, and say how many keys are dropped."""

    actions = {"GET": "instance.remove", "POST": "instance.remove"}
    template_name = "console/instances/remove.html"
    gone_to = "atributo:instances"
    title = "Remove an instance"
    refusals = (AtributoError,)

    def load(self, instance_id: str) -> None:
        self.row = instance_or_404(instance_id)

    def question(self) -> dict[str, Any]:
        row, removal = self.row, may_remove(self.row.pk)
        jobs, path = removal.jobs, f"/api/v1/instances/{quote(row.pk, safe='')}"
        drop = f" and drop {pluralize(jobs, 'key')}" if jobs else ""
        command = f"manage.py instances remove {shell_quote(row.pk)}"
        return {
            "row": row,
            "removal": removal,
            "crumbs": [("Instances", reverse("atributo:instances")), (row.pk, self.back())],
            "heading": f"Remove {row.pk}",
            "button": f"Remove{drop}",
            "leave": "Cancel",
            "is_danger": True,
            "command": f"{command} --drop-jobs {jobs}" if jobs else command,
            "rest": curl(f"{path}?drop_jobs={jobs}" if jobs else path, "DELETE"),
        }

    def act(self) -> str:
        if self.request.POST.get("typed") != self.row.pk:
            raise NotConfirmed("To remove the instance, type its id exactly.")
        count = whole(self.request.POST.get("jobs", ""))
        dropped = operations.remove_instance(self.row.pk, drop_jobs=count, epoch=self.row.epoch)
        return f"{self.row.pk} is removed; {pluralize(dropped, 'key was', 'keys were')} dropped."

    def refuse(self, error: Exception) -> HttpResponse:
        messages.error(self.request, str(error))
        return self.ask(400 if isinstance(error, NotConfirmed) else 409)

    def back(self) -> str:
        return reverse("atributo:instance", args=[self.row.pk])

    def after(self) -> str:
        return reverse("atributo:instances")


def _filled_in(request: HttpRequest) -> dict[str, str]:
    """Return the fields of the drain that are filled in, for the address of the page."""
    given = {name: request.POST.get(name, "") for name in DrainForm.base_fields}
    return {name: text[:256] for name, text in given.items() if text}
