"""What must always hold for sticky jobs."""

from collections.abc import Callable

from django.db.models import Count, Exists, OuterRef

from allocation.models import Allocation, Lease
from queues.models import QueuedJob

MOST = 20
MOST_RUNNING = 10_000
HELD = ("holder", "facts")
Invariant = tuple[str, str, Callable[[], list[str]]]


def run_by_another_instance() -> list[str]:
    """The slot's holder is a process; its lease says which instance it serves."""
    leases = Lease.objects.held().filter(role__startswith="worker/")
    serving = {holder: facts.get("instance") for holder, facts in leases.values_list(*HELD)}
    running = QueuedJob.objects.filter(status="progress", sticky_key__isnull=False)
    rows = running.select_related("slot")[:MOST_RUNNING]
    return [
        f"{row.pk} of {row.routed_to} by {row.slot.holder}"
        for row in rows
        if row.slot is not None and serving.get(row.slot.holder, row.routed_to) != row.routed_to
    ][:MOST]


def key_at_two_instances() -> list[str]:
    running = QueuedJob.objects.filter(status="progress", sticky_key__isnull=False).order_by()
    keys = running.values("sticky_key").annotate(n=Count("routed_to", distinct=True))
    return [f"{row['sticky_key']} at {row['n']}" for row in keys.filter(n__gt=1)[:MOST]]


def route_of_the_future() -> list[str]:
    """A route is read from a placement, so that none is newer than that."""
    jobs = QueuedJob.objects.filter(sticky_key__isnull=False, routed_epoch__isnull=False)
    older = Allocation.objects.filter(pk=OuterRef("sticky_key"), epoch__lt=OuterRef("routed_epoch"))
    return [f"{row.pk} at epoch {row.routed_epoch}" for row in jobs.filter(Exists(older))[:MOST]]


INVARIANTS: list[Invariant] = [
    (
        "sticky elsewhere",
        "No sticky job is in progress on a worker of another instance.",
        run_by_another_instance,
    ),
    (
        "key at two instances",
        "No two instances run jobs of one sticky key at the same time.",
        key_at_two_instances,
    ),
    (
        "route of the future",
        "No sticky job has a route that is newer than the placement of its key.",
        route_of_the_future,
    ),
]
