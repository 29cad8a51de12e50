"""Read the queued jobs that run at an instance or wait for it."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from atributo_site.console.base.navigation import address
from atributo_site.console.jobs.state import with_states
from atributo_site.web.pagination import capped_count, format_count
from queues.logic.search_query import written
from queues.models import QueuedJob, Station
from queues.queries.running import belongs_to, waiting_for, workers_at
from queues.queries.states import in_state

MOST = 10
LINKED = ("running", "waiting", "delayed")


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
    return jobs.select_related("queue", "slot").defer("data", "result")[:MOST]


def _running(job: QueuedJob, workers: dict[str, str]) -> dict[str, Any]:
    role = workers.get(job.slot.holder, "") if job.slot else ""
    return {"job": job, "worker": role.removeprefix("worker/")}


def _jobs_url(instance_id: str, state: str) -> str:
    filters = {"state": state, "q": written("instance", instance_id)}
    return f"{address('jobs')}?{urlencode(filters)}"
