"""Worker numbers for job ids: leased in the database, with the mark that no id exceeds."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.errors import BadNumbering, LeaseLost, NoWorkerNumber
from allocation.logic.counted import counted
from allocation.logic.job_ids import Block, block, refusal
from allocation.models import IdNumber
from allocation.models.clock import from_now

LEASE_SECONDS = 30
PATIENCE_SECONDS = 2.0
PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class Number:
    """Proof that a process holds a worker number."""

    number: int
    cluster_size: int
    token: int

    def reserve(
        self, clock: Callable[[], int], count: int, lead_ms: int | None, using: str
    ) -> Block | int:
        """A block that nobody else gets, stored before it is used; or milliseconds to wait.

        The clock is read with the row locked: those who share a number see it in their order.
        """
        with atomic(using=using):
            row = self._row(using)
            found = block(
                now_ms=clock(),
                high_water_ms=row.high_water_ms,
                ahead_ms=row.ahead_ms,
                count=count,
                lead_ms=lead_ms,
            )
            if isinstance(found, Block):
                row.high_water_ms, row.ahead_ms = found.end_ms, found.ahead_ms
            row.expires_at = from_now(LEASE_SECONDS)
            row.save(using=using, update_fields=["high_water_ms", "ahead_ms", "expires_at"])
        return found

    def release(self, last_ms: int, end_ms: int, using: str) -> None:
        """Hand it over at once; what is left of the last block may be used again."""
        rows = IdNumber.objects.using(using).filter(pk=self.number, token=self.token)
        rows.filter(high_water_ms=end_ms).update(high_water_ms=last_ms)
        rows.update(holder="", expires_at=Now())

    def _row(self, using: str) -> IdNumber:
        rows = IdNumber.objects.using(using).select_for_update()
        row = rows.filter(pk=self.number, token=self.token).exclude(holder="").first()
        if row is None:
            raise LeaseLost(f"worker number {self.number} went to another process")
        if row.cluster_size != self.cluster_size:
            raise _mixed(row.cluster_size, self.cluster_size)
        return row


def take(
    worker_id: str,
    cluster_size: int,
    holder: str,
    using: str,
    *,
    now_ms: int,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> Number:
    """A number of our own: the one that was asked for, or with «auto» any that is free."""
    why = refusal(0 if worker_id == "auto" else int(worker_id), cluster_size)
    if why is not None:
        raise BadNumbering(why)
    deadline = monotonic() + PATIENCE_SECONDS
    while True:
        found = _try(worker_id, cluster_size, holder, using, now_ms)
        if found is not None:
            return found
        if monotonic() >= deadline:
            raise NoWorkerNumber(f"all {cluster_size} worker numbers are taken")
        sleep(PAUSE_SECONDS)


def _try(worker_id: str, size: int, holder: str, using: str, now_ms: int) -> Number | None:
    rows = IdNumber.objects.using(using)
    if rows.filter(cluster_size=size).count() < size:
        _agree(size, using)
    with atomic(using=using):
        _lock(using)
        _refuse_other_sizes(size, using)
        free = rows.free().order_by("high_water_ms", "number")
        row = free.first() if worker_id == "auto" else free.filter(pk=int(worker_id)).first()
        if row is None and worker_id != "auto":
            raise BadNumbering(f"another live process has worker_id={worker_id}")
        if row is None:
            return None
        _hold(row, holder, now_ms, using)
        return Number(row.pk, size, row.token + 1)


def _hold(row: IdNumber, holder: str, now_ms: int, using: str) -> None:
    IdNumber.objects.using(using).filter(pk=row.pk).update(
        holder=holder,
        token=F("token") + 1,
        expires_at=from_now(LEASE_SECONDS),
        ahead_ms=max(0, row.high_water_ms - now_ms),
    )


def _agree(size: int, using: str) -> None:
    """Make the rows of this size; a larger cluster takes over those of the smaller one."""
    rows = IdNumber.objects.using(using)
    with atomic(using=using):
        rows.bulk_create([IdNumber(pk=0, cluster_size=size)], ignore_conflicts=True)
        _lock(using)
        _refuse_other_sizes(size, using)
        rows.update(cluster_size=size)
        new = [IdNumber(pk=number, cluster_size=size) for number in range(1, size)]
        rows.bulk_create(new, ignore_conflicts=True)


def _lock(using: str) -> None:
    """One taker at a time; the first row stands for all."""
    list(IdNumber.objects.using(using).select_for_update().filter(pk=0))


def _refuse_other_sizes(size: int, using: str) -> None:
    rows = IdNumber.objects.using(using)
    larger = rows.filter(cluster_size__gt=size).values_list("cluster_size", flat=True).first()
    if larger is not None:
        raise _mixed(larger, size)
    smaller = rows.held().filter(cluster_size__lt=size)
    live = smaller.values_list("cluster_size", flat=True).first()
    if live is not None:
        raise BadNumbering(
            f"{counted(smaller.count(), 'process', 'processes')} still at cluster_size={live}: "
            f"stop all of them before the first one starts with {size}",
            cluster_size=live,
        )


def _mixed(theirs: int, ours: int) -> BadNumbering:
    return BadNumbering(
        f"this cluster numbers ids with cluster_size={theirs}; "
        f"{ours} would mix sizes or make new ids smaller than old ones",
        cluster_size=theirs,
    )
