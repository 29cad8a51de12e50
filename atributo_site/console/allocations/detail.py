"""Show one key: where it is, why, and what happened to it."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from allocation.errors import UnknownJob
from allocation.models import Instance
from allocation.placement.explain import explain, today
from atributo_site.console.base.screen import Screen
from atributo_site.core.ids import valid_id
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may

MOST_EVENTS = 50


class OneAllocation(Screen):
    actions = {"GET": "allocation.view"}
    template_name = "console/allocations/detail.html"

    def get(self, request: HttpRequest, job_id: str) -> HttpResponse:
        self.title = valid_id(job_id)
        explained = _explained(job_id)
        return self.show(
            explained=explained,
            instance=_instance_of(explained["placement"]),
            events=Event.objects.about(f"allocation:{job_id}").newest_first()[:MOST_EVENTS],
            now=database_now(),
            may_operate=may(request.user, "allocation.operate"),
        )


def _explained(job_id: str) -> dict[str, Any]:
    """Explain a placement; of a key that was never allocated say only where it would go."""
    try:
        return explain(job_id)
    except UnknownJob:
        never: dict[str, Any] = {"placement": None, "why": None, "history": []}
        return {"job_id": job_id, **never, "today": today(job_id)}


def _instance_of(placement: dict[str, Any] | None) -> Any:
    if placement is None:
        return None
    return Instance.objects.select_related("drain").filter(pk=placement["instance_id"]).first()
