"""Lease worker numbers in the database, each with the mark that none of its ids exceeds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.errors import BadNumbering, NoWorkerNumber
from allocation.job_ids import sqlite_journal
from allocation.logic.id_blocks import Block, BlockRequest, Mark
from allocation.logic.job_ids import refusal
from allocation.models import IdNumber
from atributo_site.core.errors import LeaseLost
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.core.text import pluralize

LEASE_SECONDS = 30
PAUSE_SECONDS = 0.1
LEASED = ["holder", "token", "expires_at"]
MARKED = ["high_water_ms", "ahead_ms", "set_back_ms"]


@dataclass(frozen=True)
class Number:
    """Proof that a process holds a worker number."""

    number: int
    cluster_size: int
    token: int

    def reserve(
        self, clock: Callable[[], int], request: BlockRequest, floor: Mark, using: str
    ) -> Block | int:
        """Store and return a block that nobody else gets, or the milliseconds to wait for one.

        It lies after the floor, too, which is the last id that the process made with a number it
        lost. The clock is read with the row locked, so that those who share a number read it in
        their order.
        """
        with atomic(using=using):
            row = self._row(using)
            reserved = request(max(row.mark, floor, key=lambda mark: mark.ms), clock())
            if isinstance(reserved, Block):
                row.mark = reserved.mark
            row.expires_at = from_now(LEASE_SECONDS)
            _store(row, using)
        return reserved

    def release(self, last_ms: int, end_ms: int, using: str) -> None:
        """Give the number back at once; the rest of the last block may be used again."""
        try:
            _complete(self.cluster_size, using)
            with atomic(using=using):
                row = self._row(using)
                if row.high_water_ms == end_ms:
                    row.high_water_ms = last_ms
                row.holder, row.expires_at = "", Now()
                _store(row, using)
        except (LeaseLost, BadNumbering):
            return  # another process has it by now

    def is_proof_for(self, row: IdNumber) -> bool:
        """Return whether the process still has the number."""
        is_same = (row.token, row.cluster_size) == (self.token, self.cluster_size)
        return is_same and row.holder != ""

    def _row(self, using: str) -> IdNumber:
        rows = IdNumber.objects.using(using).select_for_update().filter(pk=self.number)
        row = next(iter(sqlite_journal.recalled(rows, using)), None)
        if row is None or row.token != self.token or not row.holder:
            raise LeaseLost(f"worker number {self.number} went to another process")
        if row.cluster_size != self.cluster_size:
            raise _mixed(row.cluster_size, self.cluster_size)
        return row


def take(worker_id: str, cluster_size: int, holder: str, using: str) -> Number:
    """Lease the number that was asked for, or with "auto" any that is free."""
    why = refusal(0 if worker_id == "auto" else int(worker_id), cluster_size)
    if why is not None:
        raise BadNumbering(why)
    _complete(cluster_size, using)
    with atomic(using=using):
        lock(using)
        _refuse_other_sizes(cluster_size, using)
        row = _chosen(worker_id, holder, using)
        if row is None and worker_id != "auto":
            raise BadNumbering(f"another live process has worker_id={worker_id}")
        if row is None:
            taken = f"all {cluster_size} worker numbers are taken"
            raise NoWorkerNumber(taken, wait_seconds=PAUSE_SECONDS)
        if row.holder != holder:
            row.holder, row.token, row.expires_at = holder, row.token + 1, from_now(LEASE_SECONDS)
            _store(row, using)
        return Number(row.pk, cluster_size, row.token)


def _chosen(worker_id: str, holder: str, using: str) -> IdNumber | None:
    """Return the number that the holder has already, e.g. by another thread, or a free one."""
    rows = IdNumber.objects.using(using)
    wanted = rows.all() if worker_id == "auto" else rows.filter(pk=int(worker_id))
    return next(iter(free_numbers(wanted, using, holder)), None)


def free_numbers(
    wanted: Iterable[IdNumber], using: str, holder: str | None = None
) -> list[IdNumber]:
    """Return the numbers of this holder, then those that nobody has, oldest marks first."""
    now = database_now(using)
    numbers = sqlite_journal.recalled(wanted, using)
    numbers.sort(key=lambda row: (row.holder != holder, row.high_water_ms, row.pk))
    return [row for row in numbers if row.holder == holder or not row.is_held(now)]


def _store(row: IdNumber, using: str) -> None:
    row.save(using=using, update_fields=[*LEASED, *MARKED])
    sqlite_journal.keep(row.pk, using)


def _complete(size: int, using: str) -> None:
    """Make missing rows again: a transaction that was rolled back may have taken them along."""
    if IdNumber.objects.using(using).filter(cluster_size=size).count() < size:
        _agree(size, using)


def _agree(size: int, using: str) -> None:
    """Make the rows of this size; a larger cluster takes over those of the smaller one."""
    rows = IdNumber.objects.using(using)
    with atomic(using=using):
        rows.bulk_create([IdNumber(pk=0, cluster_size=size)], ignore_conflicts=True)
        lock(using)
        _refuse_other_sizes(size, using)
        rows.update(cluster_size=size)
        new = [IdNumber(pk=number, cluster_size=size) for number in range(1, size)]
        rows.bulk_create(new, ignore_conflicts=True)


def lock(using: str) -> None:
    """Let one process at a time take a number, by the lock of the first row."""
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
            f"{pluralize(smaller.count(), 'process', 'processes')} still at cluster_size={live}: "
            f"stop all of them before the first one starts with {size}",
            cluster_size=live,
        )


def _mixed(theirs: int, ours: int) -> BadNumbering:
    return BadNumbering(
        f"this cluster numbers ids with cluster_size={theirs}; "
        f"{ours} would mix sizes or make new ids smaller than old ones",
        cluster_size=theirs,
    )
