"""The attempt that a process executes: what it may still do, by the job's row."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from allocation.fencing import count_fenced
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
        """From what the child is told; None for a script that runs now."""
        if not work.get("job") or not work.get("slot"):
            return None
        return cls(int(work["job"]["id"]), work["job"]["attempt"], *work["slot"])

    def hold(self) -> None:
        """Inside a database transaction: nothing in it commits once the attempt is over.

        The mark makes whoever starts the next attempt look for what this one left.
        """
        waiting = Q(status=Status.PENDING, attempt=self.number - 1)
        running = Q(status=Status.PROGRESS, attempt=self.number)
        held = QueuedJob.objects.filter(pk=self.job, slot=self.slot, slot_epoch=self.slot_epoch)
        if not held.filter(waiting | running).update(suspect=True):
            raise AttemptIsOver(f"attempt {self.number} of job {self.job} is over", job=self.job)

    def note(self, transaction: int) -> None:
        AttemptTransaction.objects.create(
            job_id=self.job,
            attempt=self.number,
            transaction=transaction,
            slot=self.slot,
            slot_epoch=self.slot_epoch,
        )

    def count_refused(self, what: str) -> None:
        count_fenced("attempt", f"job:{self.job}", attempt=self.number, what=what)
