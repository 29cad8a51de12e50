"""Show one instance: its load, drain, jobs and events, and the ways to make it available again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from allocation.errors import UnknownInstance
from allocation.instances.availability import MANUAL, RESTORED_SECONDS
from allocation.instances.holds import left_on, may_remove
from allocation.models import Allocation, Instance
from allocation.placement.departures import destinations
from allocation.snapshot import described
from atributo_site.console.base.navigation import address
from atributo_site.console.base.screen import Screen
from atributo_site.console.events.folding import events_of
from atributo_site.console.instances import drain
from atributo_site.console.instances.forms import DrainForm
from atributo_site.console.jobs.state import with_states
from atributo_site.core.ids import valid_id
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import capped_count, format_count
from queues.logic.search_query import written
from queues.models import QueuedJob, Station
from queues.queries.running import belongs_to, waiting_for, workers_at
from queues.queries.states import in_state

MOST_JOBS = 20
MOST_EVENTS = 15
DECIDERS = {Instance.Source.DNS: "DNS", Instance.Source.WORKER: "its worker"}
MOST_QUEUED = 10
LINKED = ("running", "waiting", "delayed")


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


def jobs_at(instance_id: str, now: datetime) -> dict[str, Any]:
    """Return the first jobs of each kind and their capped counts."""
    running = in_state(QueuedJob.objects.visible(), "running", now).filter(belongs_to(instance_id))
    waiting = waiting_for(instance_id)
    workers = dict(workers_at(instance_id).values_list("holder", "role"))
    return {
        "running": [
            _running(job, workers) for job in _listed(running.order_by("started_at", "id"))
        ],
        "running_count": format_count(capped_count(running)),
        "waiting": with_states(_listed(waiting), now),
        "waiting_count": format_count(capped_count(waiting)),
        "is_served": Station.objects.served().filter(pk=instance_id).exists(),
        "urls": {state: _jobs_url(instance_id, state) for state in LINKED},
    }


def _listed(jobs: Any) -> Any:
    return jobs.select_related("queue", "slot").defer("data", "result")[:MOST_QUEUED]


def _running(job: QueuedJob, workers: dict[str, str]) -> dict[str, Any]:
    role = workers.get(job.slot.holder, "") if job.slot else ""
    return {"job": job, "worker": role.removeprefix("worker/")}


def _jobs_url(instance_id: str, state: str) -> str:
    filters = {"state": state, "q": written("instance", instance_id)}
    return f"{address('jobs')}?{urlencode(filters)}"
