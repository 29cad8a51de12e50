"""Numbers that a busy process leases beside its own, so that a millisecond holds several ids.

They are leased for a short time, only while half of all numbers are free, and are given back when
one number is enough again or when other processes need them. A forked child has none.
"""

from collections.abc import Iterable

from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.job_ids import sqlite_journal
from allocation.job_ids.worker_numbers import LEASED, MARKED, Number, free_numbers, lock
from allocation.logic.id_blocks import Block, free_for_more, is_crowded
from allocation.models import IdNumber
from atributo_site.core.models.clock import from_now

LEASE_SECONDS = 5  # a block ends sooner while the process is busy


class FurtherNumbers:
    """The further numbers of one process; the rows say which of them it still has."""

    def __init__(self, cluster_size: int) -> None:
        self.cluster_size = cluster_size
        self._held: dict[int, Number] = {}

    def cover(self, block: Block, count: int, holder: str, using: str) -> list[int]:
        """Store the mark of the block for up to `count` numbers, and return those."""
        held = dict(self._held)
        if not held and not count:
            return []
        taken = IdNumber.objects.using(using).held().count()
        if not count or is_crowded(taken, self.cluster_size):
            self.release(-1, -1, using)
            return []
        if len(held) < count and free_for_more(taken, self.cluster_size):
            held |= self._lease(count - len(held), block, f"{holder}+", using)
        covered = self._stored(held, block, using)
        self._held = {number: held[number] for number in covered}
        return covered

    def forget(self) -> None:
        """Leave them to the parent, in a forked child."""
        self._held = {}

    def release(self, last_ms: int, end_ms: int, using: str) -> None:
        """Give them back at once; the rest of the last block may be used again."""
        held, self._held = self._held, {}
        if not held:
            return
        with atomic(using=using):
            rows = _locked(held, using)
            for row in rows:
                if row.high_water_ms == end_ms:
                    row.high_water_ms = last_ms
                row.holder, row.expires_at = "", Now()
            _store(rows, using)

    def _lease(self, count: int, block: Block, holder: str, using: str) -> dict[int, Number]:
        """Lease numbers whose ids all lie before the block."""
        with atomic(using=using):
            lock(using)
            taken = IdNumber.objects.using(using).held().count()
            count = min(count, free_for_more(taken, self.cluster_size))
            free = free_numbers(IdNumber.objects.using(using).all(), using)
            rows = [row for row in free if row.high_water_ms < block.start_ms][:count]
            for row in rows:
                row.holder, row.token = holder, row.token + 1
                row.expires_at = from_now(LEASE_SECONDS)
            _store(rows, using)
        return {row.pk: Number(row.pk, self.cluster_size, row.token) for row in rows}

    def _stored(self, held: dict[int, Number], block: Block, using: str) -> list[int]:
        """Move the marks to the end of the block, where they lie before it."""
        with atomic(using=using):
            rows = [row for row in _locked(held, using) if row.high_water_ms < block.start_ms]
            for row in rows:
                row.mark, row.expires_at = block.mark, from_now(LEASE_SECONDS)
            _store(rows, using)
        return [row.pk for row in rows]


def _locked(held: dict[int, Number], using: str) -> list[IdNumber]:
    """Return the rows that this process still has; lock them in their order."""
    rows = IdNumber.objects.using(using).select_for_update().filter(pk__in=held).order_by("pk")
    known = sqlite_journal.recalled(rows, using)
    return [row for row in known if held[row.pk].is_proof_for(row)]


def _store(rows: Iterable[IdNumber], using: str) -> None:
    rows = list(rows)
    if not rows:
        return
    IdNumber.objects.using(using).bulk_update(rows, [*LEASED, *MARKED])
    for row in rows:
        sqlite_journal.keep(row.pk, using)
