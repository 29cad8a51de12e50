"""What must always hold for sticky jobs."""

from collections.abc import Callable

from django.db.models import Count, Exists, OuterRef, Q

from allocation.models import Allocation, Lease
from queues.models import QueuedJob

MOST = 20
Invariant = tuple[str, str, Callable[[], list[str]]]


def run_by_another_instance() -> list[str]:
    """The slot's holder is a process; its lease says which instance it serves."""
    jobs = QueuedJob.objects.filter(status="progress", sticky_key__isnull=False)
    here = Lease.objects.filter(role__startswith="worker/", holder=OuterRef("slot__holder")).filter(
        Q(facts__instance=OuterRef("routed_to"))
    )
    held = jobs.exclude(slot__holder="").filter(~Exists(here))
    rows = held.filter(Exists(Lease.objects.filter(holder=OuterRef("slot__holder"))))
    return [f"{row.pk} of {row.routed_to}" for row in rows[:MOST]]


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
