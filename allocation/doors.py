"""What people and programs ask for at the doors: the operations, each with its event.

Placements carry who, when and why in their own row, whoever makes them. What comes through a
door is also in the timeline of events; a batch is one event with its counts.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from django.db.transaction import atomic

from allocation.atributo import Allocated, Atributo
from allocation.availability import load_of, remove
from allocation.busy import patiently
from allocation.errors import EpochChanged, InstanceHeld, UnknownJob
from allocation.events import record
from allocation.fencing import count_fenced
from allocation.holds import holds_of
from allocation.ids import valid_id
from allocation.models import Allocation

T = TypeVar("T")
NAMED = 20  # job ids that a batch's event lists


def allocate(job_id: str) -> Allocated:
    valid_id(job_id)

    def place() -> Allocated:
        allocated = Atributo().allocate(job_id)
        if allocated.persisted:
            record("allocation.made", f"allocation:{job_id}", instance_id=allocated.instance_id)
        return allocated

    return _together(place)


def allocate_many(job_ids: list[str]) -> dict[str, Allocated]:
    def place() -> dict[str, Allocated]:
        answers = Atributo().allocate_many(job_ids)
        new = [job_id for job_id, answer in answers.items() if answer.persisted]
        counts = Counter(answers[job_id].instance_id for job_id in new)
        if new:
            record(
                "allocations.made",
                "allocations",
                count=len(new),
                to=dict(counts),
                first=new[:NAMED],
            )
        return answers

    return _together(place)


def deallocate(job_id: str, epoch: int | None = None) -> None:
    """UnknownJob when it is nowhere, EpochChanged when it was placed anew meanwhile."""
    valid_id(job_id)

    def end() -> None:
        row = Allocation.objects.filter(pk=job_id).first()
        if row is None:
            raise UnknownJob(f"{job_id} is not allocated", job_id=job_id)
        if epoch is not None and row.epoch != epoch:
            raise EpochChanged(f"{job_id} is at epoch {row.epoch}, not {epoch}", epoch=row.epoch)
        if Atributo().deallocate(job_id, epoch=row.epoch):
            record("allocation.ended", f"allocation:{job_id}", instance_id=row.instance_id)

    try:
        _together(end)
    except EpochChanged:
        count_fenced("allocation", f"allocation:{job_id}", epoch=epoch)
        raise


def deallocate_many(job_ids: list[str]) -> int:
    def end() -> int:
        count = Atributo().deallocate_many(job_ids)
        if count:
            record("allocations.ended", "allocations", count=count, first=job_ids[:NAMED])
        return count

    return _together(end)


def remove_instance(
    instance_id: str, *, drop_jobs: int | None = None, epoch: int | None = None
) -> int:
    """Only who says how many jobs will be dropped may drop them; holds are never overruled."""
    valid_id(instance_id)
    jobs, holds = load_of(instance_id), holds_of(instance_id)
    if holds or (jobs and drop_jobs != jobs):
        said = ", ".join([f"{jobs} jobs", *(f"{count} × {kind}" for kind, count in holds.items())])
        raise InstanceHeld(
            f"{instance_id} is held by {said}; say drop_jobs={jobs} to drop its jobs",
            jobs=jobs,
            holds=holds,
        )
    return patiently(lambda: remove(instance_id, epoch=epoch))


def _together(operation: Callable[[], T]) -> T:
    """The operation and its event in one transaction."""

    def run() -> Any:
        with atomic():
            return operation()

    return patiently(run)
