"""Route sticky jobs to the instance that their key is allocated to."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import structlog
from django.db.models import Case, F, When
from django.db.transaction import atomic

from allocation.atributo import Atributo
from allocation.errors import NoInstances
from atributo_site.core.database import dialect, execute, listed
from atributo_site.core.events import record_many
from atributo_site.core.leases import HeldLease
from queues.logic.ranks import INTO_FLOW
from queues.models import QueuedJob, Station
from queues.models.job import IN_FLOW
from queues.runs import turns
from queues.sql import sticky

log = structlog.get_logger(__name__)
BATCH = 1000


class MisroutedJob(NamedTuple):
    """A waiting job whose key is no longer where the job was routed."""

    job_id: int
    key: str
    instance_id: str


def route_key(key: str, job_ids: list[int]) -> str | None:
    """Allocate the key of new jobs and route them; None when no instance is available."""
    try:
        instance_id = Atributo().allocate(key).instance_id
    except NoInstances:
        log.info("job_waits_for_instance", sticky_key=key)
        return None
    ensure_stations([instance_id])
    routed = _route(job_ids)
    return next(iter(routed.values()), None)


def route_waiting(lease: HeldLease) -> int:
    """Route jobs that have no route: no instance was available, or their pusher died."""
    jobs = QueuedJob.objects.waiting_at(None)
    waiting = list(
        jobs.order_by("queue_id", "rank", "due_at").values_list("pk", "sticky_key")[:BATCH]
    )
    if not waiting:
        return 0
    _allocate({key for _, key in waiting})
    routed = _route_guarded([pk for pk, _ in waiting], lease)
    turns.pass_on_and_ring(turns.lines_of(list(routed)))
    return len(routed)


def route_misrouted(lease: HeldLease) -> int:
    """Route jobs whose key has moved, or whose instance was removed; first those that may start."""
    d = dialect()
    rows = execute(sticky.misrouted(d, in_line=False), {"limit": BATCH}).rows
    rows = rows or execute(sticky.misrouted(d, in_line=True), {"limit": BATCH}).rows
    misrouted = [MisroutedJob(*row) for row in rows]
    return reroute(misrouted, "its key has moved", lease) if misrouted else 0


def reroute(misrouted: list[MisroutedJob], why: str, lease: HeldLease) -> int:
    """Route jobs anew, with an event for each; without an instance they wait for one."""
    _allocate({each.key for each in misrouted})
    with atomic():
        lease.guard()
        _forget([each.job_id for each in misrouted])
        routed = _route([each.job_id for each in misrouted])
        ensure_stations(set(routed.values()))
        record_many([_event(each, routed, why) for each in misrouted])
    return len(misrouted)


def _event(each: MisroutedJob, routed: dict[int, str], why: str) -> tuple[str, str, dict[str, Any]]:
    facts = {"from": each.instance_id, "to": routed.get(each.job_id), "why": why}
    return "job.rerouted", f"job:{each.job_id}", facts


def ensure_stations(instance_ids: Iterable[str]) -> None:
    """Create missing stations: an unserved instance is away from when a job waits for it."""
    rows = [Station(instance_id=instance_id) for instance_id in instance_ids]
    Station.objects.bulk_create(rows, ignore_conflicts=True)


def _allocate(keys: set[str]) -> None:
    try:
        Atributo().allocate_many(sorted(keys))
    except NoInstances:  # those that are allocated already are routed nevertheless
        log.debug("jobs_wait_for_instance", keys=len(keys))  # twice a second while none is there


def _route_guarded(job_ids: list[int], lease: HeldLease) -> dict[int, str]:
    with atomic():
        lease.guard()
        routed = _route(job_ids)
        ensure_stations(set(routed.values()))
    return routed


def _route(job_ids: list[int]) -> dict[int, str]:
    """Return where each job was routed, of those that wait and whose key is allocated."""
    d = dialect()
    return dict(execute(sticky.route(d), {"ids": listed(job_ids)}).rows)


def _forget(job_ids: list[int]) -> None:
    jobs = QueuedJob.objects.filter(pk__in=job_ids).waiting()
    own_rank = F("rank") - Case(When(IN_FLOW, then=INTO_FLOW), default=0)
    jobs.update(routed_to=None, routed_epoch=None, rank=own_rank, flow_id=None)
