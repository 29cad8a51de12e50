"""Settle what waits for the end of jobs: release or fail jobs, and end batches.

Whoever ends a job does this after the commit; what a crash leaves undone is done by the curator.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Q
from django.db.transaction import atomic

from atributo_site.core.database import dialect, execute, listed
from atributo_site.core.events import record_many
from queues.links.ending import end_batch
from queues.links.sql import statements as sql
from queues.logic.secret_fields import fingerprint
from queues.models import Dependency, QueuedJob

PIECE = 1000  # jobs that one statement changes
FAILED_BEFORE = ", which it waited for, did not complete."
FINGERPRINT = fingerprint(f"Job 1{FAILED_BEFORE}")


class Released(NamedTuple):
    """A job that may start now."""

    id: int
    queue_id: int
    flow_id: int | None
    sticky_key: str | None
    concurrent: bool
    routed_to: str | None


@dataclass
class Settled:
    released: list[Released] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)  # that have ended
    called: set[int] = field(default_factory=set)  # queues with a new callback

    @property
    def count(self) -> int:
        return len(self.released) + len(self.failed) + len(self.batches)


def settle(ended: Iterable[int]) -> Settled:
    """Settle everything that waited for these jobs, and for what fails with them."""
    settled = Settled()
    left = list(ended)
    batches: set[int] = set()
    while left:
        part, left = left[:PIECE], left[PIECE:]
        batches |= _batches_of(part)
        last = 0
        while waiting := _waiting_for(part, last):
            left += settle_blocked(waiting, settled)
            last = waiting[-1]
    for batch_id in sorted(batches):
        settle_batch(batch_id, settled)
    return settled


def settle_blocked(ids: Sequence[int], settled: Settled) -> list[int]:
    """Fail or release blocked jobs as far as that is decided; return those that failed."""
    failed = _fail(ids)
    settled.failed += failed
    asked = {"ids": listed(set(ids) - set(failed))}
    rows = execute(sql.release(dialect()), asked).rows
    settled.released += [Released(*row) for row in rows]
    return failed


def settle_batch(batch_id: int, settled: Settled) -> None:
    ended = end_batch(batch_id)
    if ended is not None:
        settled.batches.append(batch_id)
        settled.called |= ended.called


def fail_waiting_for(ids: Sequence[int]) -> list[int]:
    """Fail jobs that wait for these, which failed and are about to be deleted."""
    failed: list[int] = []
    last = 0
    while waiting := _waiting_for(ids, last):
        failed += _fail(waiting)
        last = waiting[-1]
    return failed


def _fail(ids: Sequence[int]) -> list[int]:
    asked = {"ids": listed(ids), "error": FAILED_BEFORE, "fingerprint": FINGERPRINT}
    with atomic():
        failed = [row[0] for row in execute(sql.fail(dialect()), asked).rows]
        if failed:
            record_many([("job.not_started", f"job:{pk}", {}) for pk in failed])
    return failed


def _waiting_for(ids: Sequence[int], after: int) -> list[int]:
    asked = {"ids": listed(ids), "after": after, "limit": PIECE}
    return [row[0] for row in execute(sql.waiting_for(dialect()), asked).rows]


def _batches_of(ids: Sequence[int]) -> set[int]:
    jobs = QueuedJob.objects.filter(pk__in=ids, batch__isnull=False).order_by()
    return set(jobs.values_list("batch_id", flat=True).distinct())


def forget(ids: Sequence[int]) -> None:
    """Delete what links jobs that are deleted in the same transaction."""
    Dependency.objects.filter(Q(job_id__in=ids) | Q(after_id__in=ids)).delete()
