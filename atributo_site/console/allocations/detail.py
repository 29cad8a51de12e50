"""Show one job id: where it is, why, and what happened to it."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from allocation.errors import UnknownJob
from allocation.models import Instance
from allocation.placement.explain import explain, today
from atributo_site.console.allocations.list import PAGE
from atributo_site.console.base.screen import Screen
from atributo_site.core.ids import valid_id
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may


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
