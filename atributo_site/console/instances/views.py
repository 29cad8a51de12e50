"""Instances: a list with state and load, and one page each with everything that can be done."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from allocation.errors import UnknownInstance
from allocation.instances import availability
from allocation.instances.holds import left_on, may_remove
from allocation.models import Allocation, Instance, Roster
from allocation.models.instance import STATES
from allocation.placement import drains, operations
from allocation.snapshot import described
from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import same_list
from atributo_site.console.events.folding import events_of
from atributo_site.console.instances import actions, drain
from atributo_site.console.instances.actions import ways_back
from atributo_site.console.instances.drain import DrainForm
from atributo_site.console.instances.jobs import jobs_at
from atributo_site.core.errors import AtributoError
from atributo_site.core.ids import valid_id
from atributo_site.core.models.clock import database_now
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import pluralize
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key, whole

PAGE = 50
JOBS_SHOWN = 20
EVENTS_SHOWN = 15
VERBS = ("available", "unavailable", "restore", "drain", "stop", "force", "settings")


class Instances(Screen):
    actions = {"GET": "instance.view", "POST": "instance.operate"}
    template_name = "console/instances/list.html"
    title = "Instances"

    def get(self, request: HttpRequest) -> HttpResponse:
        prefix, state = request.GET.get("prefix", "")[:255], request.GET.get("state", "")
        chosen = Instance.objects.in_state(state) if state in STATES else Instance.objects.all()
        rows = chosen.starting_with(prefix).select_related("drain")
        keys: dict[str, Any] = {name: request.GET.get(name, "") for name in ("after", "before")}
        page = page_by_key(rows.with_load(), **keys, size=PAGE, descending=False)
        now = database_now()
        return self.show(
            page=page,
            shown=[bar(facts) for facts in described(page.rows, now)],
            totals=Roster.objects.first(),
            prefix=prefix,
            state=state,
            states=list(STATES),
            same=_same(prefix, state),
            now=now,
            views=views_of(request, "instances"),
            may_operate=may(request.user, "instance.operate"),
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        """Make a new one available."""
        instance_id = valid_id(request.POST.get("id", ""))
        retry_busy(lambda: availability.make_available(instance_id))
        messages.success(request, f"{instance_id} is available.")
        return redirect("instance", instance_id)


class OneInstance(Screen):
    actions = {"GET": "instance.view"}
    template_name = "console/instances/detail.html"

    def get(self, request: HttpRequest, instance_id: str) -> HttpResponse:
        row = known(instance_id)
        now = database_now()
        jobs = Allocation.objects.on(row.pk).order_by("job_id")[:JOBS_SHOWN]
        typed = DrainForm(request.GET)
        self.title = row.pk
        return self.show(
            200 if typed.is_valid() else 400,
            row=row,
            typed=typed,
            doing=drain.doing(row.drain, row.load, now) if row.state == "draining" else "",
            facts=bar(described([row], now)[0]),
            removal=may_remove(row.pk),
            left=left_on(row.pk),
            preview=drain.preview(row, typed) if "plan" in request.GET else None,
            force=drain.forced(row) if "force" in request.GET else None,
            ways_back=ways_back(row),
            jobs=jobs,
            queued=jobs_at(row.pk, now),
            events=events_of(f"instance:{row.pk}", EVENTS_SHOWN),
            now=now,
            may_operate=may(request.user, "instance.operate"),
        )


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
        actions.configure(instance_id, request.POST)
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


def _same(prefix: str, state: str) -> dict[str, str]:
    state = state if state in STATES else ""  # any other word filters nothing
    flags = {"--prefix": prefix, "--state": state}
    asked = {"prefix": prefix, "state": state}
    return same_list("/api/v1/instances", asked, "manage.py instances list", flags)


def known(instance_id: str) -> Any:
    rows = Instance.objects.select_related("drain").with_load()
    row = rows.filter(pk=valid_id(instance_id)).first()
    if row is None:
        raise UnknownInstance(f"There is no instance {instance_id}.")
    return row


def _typed(request: HttpRequest, **more: str) -> dict[str, str]:
    """The fields of the drain that are filled in, for the address of the page."""
    given = {name: request.POST.get(name, "") for name in DrainForm.base_fields}
    return {**more, **{name: text[:256] for name, text in given.items() if text}}


def bar(facts: dict[str, Any]) -> dict[str, Any]:
    """How full it is, where it has a capacity; the tone says how close to the end."""
    if facts["capacity"]:
        facts["percent"] = min(100, round(100 * facts["load"] / facts["capacity"]))
        facts["tone"] = "bad" if facts["percent"] >= 100 else "ok"
    if facts["drain"]:
        facts["drained_percent"] = round(100 * facts["drain"]["fraction"])
    return facts
