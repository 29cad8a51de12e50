"""How an instance becomes available again, and what each way means.

Weight and capacity, changed on an instance's page whatever its state.
"""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from allocation.instances import availability
from allocation.instances.holds import may_remove
from allocation.placement import drains, operations
from atributo_site.console.base.forms import reason_of, said
from atributo_site.console.base.screen import Screen
from atributo_site.console.instances import drain
from atributo_site.console.instances.detail import known
from atributo_site.console.instances.forms import DrainForm, SettingsForm
from atributo_site.core.errors import AtributoError
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import pluralize
from atributo_site.web.pagination import whole


def configure(instance_id: str, typed: QueryDict) -> None:
    """Refused when somebody else changed the instance since the page was read."""
    form = SettingsForm(typed)
    if not form.is_valid():
        raise AtributoError(said(form))
    seen = whole(typed.get("epoch", ""))
    retry_busy(lambda: availability.configure(instance_id, epoch=seen, **form.cleaned_data))


VERBS = ("available", "unavailable", "restore", "drain", "stop", "force", "settings")


class ChangeInstance(Screen):
    """POST instances/ID/VERB; the answer is the instance's page with a sentence on it."""

    actions = {"POST": "instance.operate"}

    def post(self, request: HttpRequest, instance_id: str, verb: str) -> HttpResponse:
        known(instance_id)
        if verb not in VERBS:
            raise Http404
        if verb == "drain" and "preview" in request.POST:
            return redirect(reverse("instance", args=[instance_id], query=_typed(request, plan="")))
        try:
            said = getattr(self, f"_{verb}")(request, instance_id)
        except AtributoError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, said)
        return redirect("instance", instance_id)

    def _available(self, request: HttpRequest, instance_id: str) -> str:
        retry_busy(lambda: availability.make_available(instance_id))
        return "Job ids may be allocated to it again."

    def _unavailable(self, request: HttpRequest, instance_id: str) -> str:
        reason = reason_of(request, 255)
        retry_busy(lambda: availability.make_unavailable(instance_id, reason=reason))
        return "No more job ids are allocated to it; those it has stay."

    def _restore(self, request: HttpRequest, instance_id: str) -> str:
        retry_busy(lambda: availability.restore(instance_id))
        return "It is available again, as whoever brought it here wants it."

    def _drain(self, request: HttpRequest, instance_id: str) -> str:
        if "running" in request.POST:
            return drain.change(instance_id, request.POST)
        form = drain.valid(request.POST)
        drain.begin(instance_id, form)
        return f"The drain has begun. {drain.what_is_next(form)}"

    def _stop(self, request: HttpRequest, instance_id: str) -> str:
        retry_busy(lambda: drains.stop(instance_id))
        return "The drain is stopped; the instance stays unavailable."

    def _force(self, request: HttpRequest, instance_id: str) -> str:
        drains.force(instance_id)
        return "The curator was told to move all job ids that are left."

    def _settings(self, request: HttpRequest, instance_id: str) -> str:
        configure(instance_id, request.POST)
        return "Weight and capacity are set; job ids that are placed stay."


class RemoveInstance(Screen):
    """Asks for the id, typed, and says how many jobs are dropped."""

    actions = {"GET": "instance.remove", "POST": "instance.remove"}
    template_name = "console/instances/remove.html"
    gone_to = "instances"
    title = "Remove an instance"

    def get(self, request: HttpRequest, instance_id: str) -> HttpResponse:
        row = known(instance_id)
        return self.show(row=row, removal=may_remove(row.pk))

    def post(self, request: HttpRequest, instance_id: str) -> HttpResponse:
        row = known(instance_id)
        if request.POST.get("typed") != row.pk:
            messages.error(request, "Type the id of the instance exactly to remove it.")
            return self.show(400, row=row, removal=may_remove(row.pk))
        count = whole(request.POST.get("jobs", ""))
        try:
            dropped = operations.remove_instance(row.pk, drop_jobs=count, epoch=row.epoch)
        except AtributoError as error:
            messages.error(request, str(error))
            return self.show(409, row=row, removal=may_remove(row.pk))
        said = pluralize(dropped, "job id was", "job ids were")
        messages.success(request, f"{row.pk} is removed; {said} dropped.")
        return redirect("instances")


def _typed(request: HttpRequest, **more: str) -> dict[str, str]:
    """The fields of the drain that are filled in, for the address of the page."""
    given = {name: request.POST.get(name, "") for name in DrainForm.base_fields}
    return {**more, **{name: text[:256] for name, text in given.items() if text}}
