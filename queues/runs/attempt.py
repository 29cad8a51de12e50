"""The attempt that a process executes, and what the job's row still lets it do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.db.transaction import atomic

from atributo_site.core.fencing import count_fenced
from queues.errors import AttemptIsOver
from queues.logic.lifecycle import Status
from queues.models import AttemptTransaction, QueuedJob


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a job, in one hold of one slot."""

    job: int
    number: int
    slot: int
    slot_epoch: int

    @classmethod
    def of(cls, work: dict[str, Any]) -> "Attempt | None":
        """Read it from what the child is sent; None for a script that runs now."""
        if not work.get("job") or not work.get("slot"):
            return None
        return cls(int(work["job"]["id"]), work["job"]["attempt"], *work["slot"])

    def mark(self) -> None:
        """Make whoever starts the next attempt look for what this one left."""
        QueuedJob.objects.filter(pk=self.job).update(suspect=True)

    @contextmanager
    def guarded(self, what: str) -> Iterator[None]:
        """Open a transaction in which the attempt cannot end, or refuse if it has ended."""
        try:
            with atomic():
                if not list(self._rows().select_for_update().values_list("pk")):
                    raise self._over()
                yield
        except AttemptIsOver:
            self.count_refused(what)
            raise

    def note(self, transaction: int) -> None:
        AttemptTransaction.objects.create(
            job_id=self.job,
            attempt=self.number,
            transaction=transaction,
            slot=self.slot,
            slot_epoch=self.slot_epoch,
        )

    def _rows(self) -> "QuerySet[QueuedJob]":
        waiting = Q(status=Status.PENDING, attempt=self.number - 1)
        running = Q(status=Status.PROGRESS, attempt=self.number)
        held = QueuedJob.objects.filter(pk=self.job, slot=self.slot, slot_epoch=self.slot_epoch)
        return held.filter(waiting | running)

    def _over(self) -> AttemptIsOver:
        return AttemptIsOver(f"attempt {self.number} of job {self.job} is over", job=self.job)

    def count_refused(self, what: str) -> None:
        count_fenced("attempt", f"job:{self.job}", attempt=self.number, what=what)
