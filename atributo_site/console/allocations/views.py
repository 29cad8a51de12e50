"""Allocations: search by job id or instance, why a job is where it is, and the id decoder."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from allocation.atributo import Atributo
from allocation.errors import UnknownJob
from allocation.job_ids import ids
from allocation.models import Allocation, Instance
from allocation.placement import operations
from allocation.placement.explain import explain, today
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.screen import Screen
from atributo_site.core.errors import AtributoError
from atributo_site.core.ids import refusal, valid_id
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key

PAGE = 50


class Allocations(Screen):
    actions = {"GET": "allocation.view", "POST": "allocation.operate"}
    template_name = "console/allocations/list.html"
    title = "Allocations"

    def get(self, request: HttpRequest) -> HttpResponse:
        prefix = request.GET.get("prefix", "")[:255]
        instance_id = request.GET.get("instance", "")[:255]
        rows = Allocation.objects.starting_with(prefix)
        if instance_id:
            rows = rows.on(instance_id)
        keys: dict[str, Any] = {name: request.GET.get(name, "") for name in ("after", "before")}
        page = page_by_key(rows, **keys, size=PAGE, descending=False)
        return self.show(
            page=page,
            prefix=prefix,
            whole_id_url=reverse("allocation", args=[prefix]) if refusal(prefix) is None else "",
            instance_id=instance_id,
            now=database_now(),
            views=views_of(request, "allocations"),
            may_operate=may(request.user, "allocation.operate"),
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        job_id = valid_id(request.POST.get("job_id", ""))
        try:
            allocated = operations.allocate(job_id)
        except AtributoError as error:
            messages.error(request, str(error))
            return redirect("allocations")
        where = f"{job_id} is on {allocated.instance_id}"
        messages.success(request, f"{where}, placed now." if allocated.persisted else f"{where}.")
        return redirect("allocation", job_id)


class OneAllocation(Screen):
    actions = {"GET": "allocation.view"}
    template_name = "console/allocations/detail.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        self.title = valid_id(job_id)
        found = _found(job_id)
        return self.show(
            found=found,
            instance=_instance_of(found),
            events=Event.objects.about(f"allocation:{job_id}").newest_first()[:PAGE],
            now=database_now(),
            may_operate=may(request.user, "allocation.operate"),
        )


def _found(job_id: str) -> dict[str, Any]:
    """Of one that was never allocated only where it would go."""
    try:
        return explain(job_id)
    except UnknownJob:
        never: dict[str, Any] = {"placement": None, "why": None, "history": []}
        return {"job_id": job_id, **never, "today": today(job_id)}


def _instance_of(found: dict[str, Any]) -> Any:
    if found["placement"] is None:
        return None
    rows = Instance.objects.select_related("drain")
    return rows.filter(pk=found["placement"]["instance_id"]).first()


class ChangeAllocation(Screen):
    actions = {"POST": "allocation.operate"}

    def post(self, request: HttpRequest, job_id: str, verb: str) -> HttpResponse:
        if verb not in ("allocate", "deallocate"):
            raise Http404
        try:
            if verb == "deallocate":
                operations.deallocate(job_id)
                messages.success(request, "It is allocated no longer.")
            else:
                operations.allocate(job_id)
                messages.success(request, f"It is on {Atributo().instance(job_id)}.")
        except AtributoError as error:
            messages.error(request, str(error))
        return redirect("allocation", job_id)


class DecodeId(Screen):
    actions = {"GET": "job_id.view"}
    template_name = "console/allocations/job_id.html"
    title = "Job id"

    def get(self, request: HttpRequest) -> HttpResponse:
        job_id = request.GET.get("id", "").strip()[:64]
        try:
            parsed = ids.parse(job_id) if job_id else None
        except AtributoError as error:
            return self.show(400, job_id=job_id, refusal=str(error))
        return self.show(job_id=job_id, parsed=parsed, now=database_now())
