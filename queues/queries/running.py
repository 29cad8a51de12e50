"""What runs now at each worker, and which jobs run at or wait for an instance."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from allocation.instances.holds import RUNNING_JOB
from allocation.models import Hold
from atributo_site.core.models import Lease
from queues.logic.lifecycle import Status
from queues.models import QueuedJob
from queues.sql.states import INDEXED

NOBODY = "-"  # asks for nothing, so that it is always one query
COLUMNS = ("slot__holder", "pk", "queue__name", "mount", "script", "started_at")


def workers_at(instance_id: str) -> "QuerySet[Lease]":
    """Return the workers that run a job there: each holds the instance for as long."""
    held = Hold.objects.filter(instance_id=instance_id, kind=RUNNING_JOB).live()
    return Lease.objects.filter(role__in=held.values("key"))


def belongs_to(instance_id: str) -> Q:
    """Select sticky jobs by their route, and whatever the instance's workers run."""
    holders = workers_at(instance_id).exclude(holder="").values("holder")
    return Q(routed_to=instance_id) | Q(status=Status.PROGRESS, slot__holder__in=holders)


def waiting_for(instance_id: str) -> Any:
    """Return them in the order of their index: by queue, and in each the next one first."""
    jobs = QueuedJob.objects.visible().waiting_at(instance_id)
    return jobs.order_by("queue_id", "rank", "due_at", "id")


def few_wait_for(instance_id: str, most: int) -> bool:
    jobs = QueuedJob.objects.waiting_at(instance_id).order_by()
    return jobs.values("pk")[: most + 1].count() <= most


def running_at(holders: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the newest job of each holder of slots, and how many others it runs."""
    running = QueuedJob.objects.extra(where=[INDEXED["running"]])  # nosec B610 # a constant condition
    rows = running.filter(slot__holder__in=list(holders) or [NOBODY]).order_by()
    found: dict[str, dict[str, Any]] = {}
    for holder, *columns in rows.values_list(*COLUMNS):
        facts, before = _facts(*columns), found.get(holder)
        others = 0 if before is None else before["others"] + 1
        is_newer = before is None or facts["since"] > before["since"]
        found[holder] = {**(facts if is_newer else before or facts), "others": others}
    return found


def _facts(pk: int, queue: str, mount: str, script: str, since: Any) -> dict[str, Any]:
    return {"job_id": str(pk), "queue": queue, "script": f"{mount}/{script}", "since": since}
