"""One instance."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse

from allocation.errors import UnknownInstance
from allocation.instances.availability import MANUAL, RESTORED_SECONDS
from allocation.instances.holds import left_on, may_remove
from allocation.models import Allocation, Instance
from allocation.snapshot import described
from atributo_site.console.base.screen import Screen
from atributo_site.console.events.folding import events_of
from atributo_site.console.instances import drain
from atributo_site.console.instances.forms import DrainForm
from atributo_site.console.instances.jobs import jobs_at
from atributo_site.core.ids import valid_id
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may

DECIDERS = {Instance.Source.DNS: "DNS", Instance.Source.WORKER: "its worker"}


@dataclass(frozen=True)
class WayBack:
    verb: str
    label: str
    sentence: str


def ways_back(row: Instance) -> list[WayBack]:
    """One where both would do the same."""
    if row.available:
        return []
    ends = " The drain ends." if row.state == "draining" else ""
    again = f"It may get new job ids again.{ends}"
    if row.origin == MANUAL and row.lease_until is None:
        return [WayBack("restore", "Restore", again)]
    return [
        WayBack("restore", "Restore", f"{again} {_handed_back(row)}"),
        WayBack("available", "Make available", f"{again} {_kept(row)}"),
    ]


def _handed_back(row: Instance) -> str:
    if row.lease_until is not None:
        return f"It needs a heartbeat within {RESTORED_SECONDS} seconds."
    return f"From then on {DECIDERS[Instance.Source(row.origin)]} decides."


def _kept(row: Instance) -> str:
    if row.lease_until is not None:
        return "It needs no heartbeat."
    return f"You have decided: {DECIDERS[Instance.Source(row.origin)]} cannot undo it."


JOBS_SHOWN = 20


EVENTS_SHOWN = 15


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


def known(instance_id: str) -> Any:
    rows = Instance.objects.select_related("drain").with_load()
    row = rows.filter(pk=valid_id(instance_id)).first()
    if row is None:
        raise UnknownInstance(f"There is no instance {instance_id}.")
    return row


def bar(facts: dict[str, Any]) -> dict[str, Any]:
    """How full it is, where it has a capacity; the tone says how close to the end."""
    if facts["capacity"]:
        facts["percent"] = min(100, round(100 * facts["load"] / facts["capacity"]))
        facts["tone"] = "bad" if facts["percent"] >= 100 else "ok"
    if facts["drain"]:
        facts["drained_percent"] = round(100 * facts["drain"]["fraction"])
    return facts
