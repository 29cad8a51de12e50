"""Show one instance: its load, drain, jobs and events, and the ways to make it available again."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from allocation.errors import UnknownInstance
from allocation.instances.availability import MANUAL, RESTORED_SECONDS
from allocation.instances.holds import left_on, may_remove
from allocation.models import Allocation, Instance
from allocation.placement.departures import destinations
from allocation.snapshot import described
from atributo_site.console.base.screen import Screen
from atributo_site.console.events.folding import events_of
from atributo_site.console.instances import drain
from atributo_site.console.instances.forms import DrainForm
from atributo_site.console.instances.jobs import jobs_at
from atributo_site.core.ids import valid_id
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may

MOST_JOBS = 20
MOST_EVENTS = 15
DECIDERS = {Instance.Source.DNS: "DNS", Instance.Source.WORKER: "its worker"}


class OneInstance(Screen):
    actions = {"GET": "instance.view"}
    template_name = "console/instances/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, instance_id: str) -> HttpResponse:
        row = instance_or_404(instance_id)
        now = database_now()
        typed = DrainForm(request.GET)
        self.title = row.pk
        return self.show(
            200 if typed.is_valid() else 400,
            row=row,
            typed=typed,
            doing=drain.progress(row.drain, row.load, now) if row.state == "draining" else "",
            facts=with_percent(described([row], now)[0]),
            removal=may_remove(row.pk),
            left=left_on(row.pk),
            preview=drain.preview(row, typed) if "plan" in request.GET else None,
            force=drain.forced_moves(row) if "force" in request.GET else None,
            ways_back=ways_back(row),
            strategy=settings.ATRIBUTO.strategy,
            jobs=Allocation.objects.on(row.pk).order_by("job_id")[:MOST_JOBS],
            queued=jobs_at(row.pk, now),
            destinations=destinations(row.pk, row.drain.started_at) if is_drain(row) else None,
            events=events_of(f"instance:{row.pk}", MOST_EVENTS),
            now=now,
            may_operate=may(request.user, "instance.operate"),
        )


def is_drain(row: Any) -> bool:
    return getattr(row, "drain", None) is not None


def instance_or_404(instance_id: str) -> Any:
    rows = Instance.objects.select_related("drain").with_load()
    row = rows.filter(pk=valid_id(instance_id)).first()
    if row is None:
        raise UnknownInstance(f"Instance {instance_id} does not exist.")
    return row


def with_percent(facts: dict[str, Any]) -> dict[str, Any]:
    """Add how full the instance is, where it has a capacity, and how far its drain is."""
    if facts["capacity"]:
        facts["percent"] = min(100, round(100 * facts["load"] / facts["capacity"]))
        facts["tone"] = "bad" if facts["percent"] >= 100 else "ok"
    if facts["drain"]:
        facts["drained_percent"] = round(100 * facts["drain"]["fraction"])
    return facts


@dataclass(frozen=True)
class WayBack:
    verb: str
    label: str
    sentence: str


def ways_back(row: Instance) -> list[WayBack]:
    """Return the buttons that make the instance available again; one if both would do the same."""
    if row.available:
        return []
    ends = " The drain ends." if row.state == "draining" else ""
    again = f"It may get new keys again.{ends}"
    if row.lease_until is not None:
        restored = f"It needs a heartbeat within {RESTORED_SECONDS} seconds."
        kept = "It needs no heartbeat."
    elif row.origin == MANUAL:
        return [WayBack("restore", "Restore", again)]
    else:
        decider = DECIDERS[Instance.Source(row.origin)]
        restored = f"After that, {decider} decides."
        kept = f"This is your decision: {decider} cannot undo it."
    return [
        WayBack("restore", "Restore", f"{again} {restored}"),
        WayBack("available", "Make available", f"{again} {kept}"),
    ]
