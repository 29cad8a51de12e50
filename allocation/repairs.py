"""The repairs of allocation that the curator runs."""

from datetime import datetime

from django.conf import settings
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.instances import roster
from allocation.models import Drain, Hold, IdNumber, Instance, PastAllocation, Roster
from allocation.placement import drains, rebalance
from allocation.storage.locks import roster_lock
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.loops import Repair
from atributo_site.core.models.clock import from_now

BATCH = 100
OLD_BATCH = 1000


def bury_dead_instances(now: datetime, lease: HeldLease) -> int:
    """Make instances unavailable whose heartbeat has stopped."""
    dead = list(Instance.objects.using(lease.using).dead().values_list("pk", flat=True)[:BATCH])
    return sum(_bury(instance_id, lease) for instance_id in dead)


class MoveDrainsOn:
    """Move jobs of draining instances at their pace, and all of them after the deadline.

    Each sweep goes on where the last one ended, so that a hundred that wait, or one that has very
    many jobs, hold up no other.
    """

    def __init__(self) -> None:
        self.position = ""

    def __call__(self, now: datetime, lease: HeldLease) -> int:
        moved = 0
        for instance_id in self._next(lease.using):
            self.position = instance_id
            moved += drains.step(instance_id, now, lease.using, guard=lease.guard)
            if moved >= drains.MOST_MOVES:
                break
        return moved

    def _next(self, using: str) -> list[str]:
        """Return the drains behind the last one, and then from the first on."""
        running = Drain.objects.using(using).running().order_by("pk").values_list("pk", flat=True)
        behind = list(running.filter(pk__gt=self.position)[:BATCH])
        if not self.position:
            return behind
        before = list(running.filter(pk__lte=self.position)[: BATCH - len(behind)])
        if not behind and not before:
            self.position = ""
        return behind + before


def move_rebalance_on(now: datetime, lease: HeldLease) -> int:
    """Move jobs at the pace of the rebalance to where they would be placed today."""
    return rebalance.step(now, lease.using, guard=lease.guard)


def free_id_numbers(now: datetime, lease: HeldLease) -> int:
    """Free the worker numbers of processes that died."""
    rows = IdNumber.objects.using(lease.using)
    if not rows.expired().exists():
        return 0
    with atomic(using=lease.using):
        lease.guard()
        expired = list(rows.expired().values_list("pk", flat=True))
        freed = rows.filter(pk__in=expired).expired().update(holder="")
        if freed:
            record("id_numbers.expired", "id_numbers", using=lease.using, numbers=expired)
        return freed


def forget_expired_holds(now: datetime, lease: HeldLease) -> int:
    holds = Hold.objects.using(lease.using).filter(until__lte=Now())
    if not holds.exists():
        return 0
    with atomic(using=lease.using):
        lease.guard()
        return holds.filter(pk__in=list(holds.values_list("pk", flat=True)[:OLD_BATCH])).delete()[0]


def forget_past_allocations(now: datetime, lease: HeldLease) -> int:
    """Forget ended placements when events of their age are forgotten."""
    before = from_now(-settings.ATRIBUTO.event_retention_days * 86400)
    rows = PastAllocation.objects.using(lease.using)
    with atomic(using=lease.using):
        lease.guard()
        old = rows.filter(ended_at__lt=before).order_by("ended_at")
        batch = dict(old.values_list("pk", "ended_epoch")[:OLD_BATCH])
        newest = max((epoch for epoch in batch.values() if epoch), default=0)
        followed = Roster.objects.using(lease.using).filter(forgotten_epoch__lt=newest)
        followed.update(forgotten_epoch=newest)  # who follows changes must have come so far
        return rows.filter(pk__in=list(batch)).delete()[0]


def _bury(instance_id: str, lease: HeldLease) -> bool:
    with atomic(using=lease.using):
        lease.guard()
        with roster_lock(lease.using):
            row = Instance.objects.using(lease.using).dead().filter(pk=instance_id).first()
            if row is None:  # its heartbeat came back
                return False
            facts = {"was_available": True, "lease_until": str(row.lease_until)}
            values = {"available": False, "is_dead": True}
            roster.change(row, "instance.dead", lease.using, facts=facts, **values)
            return True


REPAIRS = [
    Repair("dead instances", bury_dead_instances, budget=BATCH),
    Repair("drains", MoveDrainsOn(), budget=drains.MOST_MOVES),
    Repair("rebalance", move_rebalance_on, budget=rebalance.MOST_MOVES),
    Repair("id numbers of dead processes", free_id_numbers, every_seconds=10),
    Repair("expired holds", forget_expired_holds, every_seconds=10, budget=OLD_BATCH),
    Repair("old placements", forget_past_allocations, every_seconds=60, budget=OLD_BATCH),
]
