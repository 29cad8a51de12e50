"""Roll back expired transactions and free orphaned locks, a bounded number per sweep.

Those that are claimed take turns: each gets a piece, then the next. What is left when the time of
a sweep is over goes to the end of the line, so a small one never waits for a large one.
"""

import time
from datetime import datetime
from functools import partial

from django.conf import settings
from django.db.models import QuerySet
from django.db.transaction import atomic

from allocation.transactions.engine.ends import Restored, finish
from allocation.transactions.engine.operations import Fence
from allocation.transactions.engine.pieces import RollBack, claim_seconds, planned, turn
from allocation.transactions.engine.roll_back import grace_seconds, mark_stuck
from allocation.transactions.models import Lock, Transaction
from allocation.transactions.store import undo
from atributo_site.core.events import record, record_many
from atributo_site.core.failpoints import failpoint
from atributo_site.core.leases import HeldLease

BATCH = 100
SWEEP_SECONDS = 0.75


def expired_transactions(now: datetime, lease: HeldLease, seconds: float = SWEEP_SECONDS) -> int:
    """Roll back what expired or was left half-way; return how many of them ended."""
    failpoint("curate.before")
    deadline, ended = time.monotonic() + seconds, 0
    while listed := list(_overdue(now)[:BATCH]):
        failpoint("curate.after_list")
        ended += _curate(_claim(listed, now, lease), lease, deadline)
        if len(listed) < BATCH or time.monotonic() >= deadline:
            break
    return ended


def free_orphaned_locks(now: datetime, lease: HeldLease) -> int:
    """Free locks whose transaction is over already."""
    if not Lock.objects.orphaned().exists():
        return 0
    with atomic():
        lease.guard()
        failpoint("orphans.after_guard")
        orphans = list(Lock.objects.orphaned().with_names()[:BATCH])
        for lock in orphans:
            record(
                "lock.orphan_freed",
                f"document:{lock.document}",
                fence=lock.token,  # masking would hide a "token"
                transaction=lock.transaction_id,
            )
        freed = Lock.objects.filter(pk__in=[lock.pk for lock in orphans]).delete()[0]
        failpoint("orphans.after_delete")
    return freed


def _overdue(now: datetime) -> QuerySet:
    overdue = Transaction.objects.overdue(now).order_by("expires_at")
    return overdue.values_list("pk", flat=True)


def _curate(was: dict[Fence, str], lease: HeldLease, deadline: float) -> int:
    """Undo claimed transactions as far as the time goes; return how many of them ended."""
    failpoint("curate.after_claim")
    roll_backs = planned(was)
    _take_turns(roll_backs, lease, deadline)
    states = {fence.txn: status for fence, status in was.items()}
    undone = [each for each in roll_backs if each.is_undone]
    ended = finish(undone, lease.guard, settings.ATRIBUTO.lock_delay_ms, partial(_tell, states))
    failpoint("curate.after_roll_back")
    _put_aside(roll_backs, lease)
    return len(ended)


def _claim(listed: list[int], now: datetime, lease: HeldLease) -> dict[Fence, str]:
    """Claim those that are still overdue, since the list may be old by now; return their states.

    One in which somebody is writing at this moment comes later.
    """
    with atomic():
        lease.guard()
        failpoint("claim.after_guard")
        overdue = Transaction.objects.overdue(now).filter(pk__in=listed)
        free = overdue.select_for_update(skip_locked=True).order_by("expires_at")
        rows = list(free.values_list("pk", "epoch", "status"))
        claimable = overdue.filter(pk__in=[pk for pk, _, _ in rows])
        claimed = claimable.claim_all(Transaction.Cause.TIMED_OUT, claim_seconds())
        assert claimed == len(rows), "these rows are locked"
        failpoint("claim.after_update")
    return {Fence(pk, epoch + 1): status for pk, epoch, status in rows}


def _take_turns(roll_backs: list[RollBack], lease: HeldLease, deadline: float) -> None:
    """Give each its piece, again and again until the time is over."""
    while going_on := [each for each in roll_backs if each.left and not each.is_taken]:
        done = turn(going_on, lease.guard, wait=False)
        if not done or time.monotonic() >= deadline:
            return


def _tell(states: dict[int, str], ended: Restored) -> None:
    record_many(
        ("transaction.curated", f"transaction:{pk}", {"was": states[pk], "restored": restored})
        for pk, restored in ended.items()
    )


def _put_aside(roll_backs: list[RollBack], lease: HeldLease) -> None:
    """Mark what is stuck, and let the rest be due again, behind all that are due now."""
    for each in roll_backs:
        if each.failure is not None and not (each.left or each.is_taken):
            mark_stuck(*each.fence, each.failure, lease.guard)
    if left := [each.fence for each in roll_backs if each.left and not each.is_taken]:
        with atomic():
            lease.guard()
            undo.hold(left, -grace_seconds())
