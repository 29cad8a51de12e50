"""The operations of REST, screens and commands, each with its audit event in one transaction.

Every placement has who, when and why in its own row. What people and programs do by REST, by
a screen or by a command is an event as well; a batch is one event with its counts.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.transaction import atomic

from allocation.atributo import Allocated, Atributo
from allocation.errors import EpochChanged, InstanceHeld, NoInstances, UnknownJob
from allocation.instances import roster
from allocation.instances.availability import (
    MANUAL,
    PIECE,
    check_rank,
    load_of,
    make_unavailable,
    remove,
)
from allocation.instances.holds import holds_of
from allocation.logic.labels import Labels, as_texts
from allocation.models import Allocation
from allocation.placement.candidates import fresh, matching
from allocation.placement.place_many import room_of
from allocation.storage import store
from allocation.storage.locks import roster_lock
from atributo_site.core.events import record
from atributo_site.core.fencing import count_fenced
from atributo_site.core.ids import valid_id
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import pluralize

T = TypeVar("T")
NAMED = 20  # keys that a batch's event lists


def allocate(job_id: str, labels: Labels | None = None) -> Allocated:
    valid_id(job_id)

    def place() -> Allocated:
        allocated = Atributo().allocate(job_id, labels=labels)
        if allocated.persisted:
            facts = {"instance_id": allocated.instance_id, **_asked(labels)}
            record("allocation.made", f"allocation:{job_id}", **facts)
        return allocated

    return _together(place, repeatable=True)


def allocate_many(job_ids: list[str], labels: Labels | None = None) -> dict[str, Allocated]:
    def place() -> dict[str, Allocated]:
        return _recorded(Atributo().allocate_many(job_ids, labels=labels), labels)

    return _together(place, repeatable=True)


def allocate_those_that_fit(
    job_ids: list[str], labels: Labels | None = None
) -> tuple[dict[str, Allocated], NoInstances | None]:
    """Allocate as many as there is room for; the error tells why the others are missing."""
    try:
        return allocate_many(job_ids, labels), None
    except NoInstances as error:
        fitting = partial(_as_many_as_fit, job_ids, labels)
        return _together(lambda: _recorded(fitting(), labels), repeatable=True), error


def _as_many_as_fit(job_ids: list[str], labels: Labels | None) -> dict[str, Allocated]:
    """Count the room and allocate under the lock, so that nobody takes it meanwhile."""
    ao = Atributo()
    with roster_lock(ao.using):
        old = store(ao.using).find_many(job_ids)
        new = [job_id for job_id in job_ids if job_id not in old]
        return ao.allocate_many([*old, *new[: _room(ao.using, len(new), labels)]], labels=labels)


def _room(using: str, wanted: int, labels: Labels | None) -> int:
    candidates = fresh(using)
    if labels:
        candidates = matching(using, as_texts(labels), candidates)
    if len(candidates.capacities) < len(candidates.all):  # one of them has room for any number
        return wanted
    return sum(max(0, room) for room in room_of(candidates, using).values())


def _recorded(answers: dict[str, Allocated], labels: Labels | None) -> dict[str, Allocated]:
    """Record one event for all new allocations."""
    new = [job_id for job_id, answer in answers.items() if answer.persisted]
    to = dict(Counter(answers[job_id].instance_id for job_id in new))
    if new:
        facts = {"count": len(new), "to": to, "first": new[:NAMED], **_asked(labels)}
        record("allocations.made", "allocations", **facts)
    return answers


def _asked(labels: Labels | None) -> dict[str, Any]:
    return {"labels": as_texts(labels)} if labels else {}


def deallocate(job_id: str, epoch: int | None = None) -> None:
    """Forget the instance; raise UnknownJob, or EpochChanged if it was placed again meanwhile."""
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


def deallocate_many(job_ids: list[str]) -> dict[str, str]:
    """Forget the instances of these jobs; return job → the instance it had."""

    def end() -> dict[str, str]:
        ended = Atributo().end_many(job_ids)
        if ended:
            first = [job_id for job_id in job_ids if job_id in ended][:NAMED]
            record("allocations.ended", "allocations", count=len(ended), first=first)
        return ended

    return _together(end)


def remove_instance(
    instance_id: str,
    *,
    drop_jobs: int | None = None,
    reason: str = "",
    epoch: int | None = None,
    source: str = MANUAL,
) -> int:
    """Remove an instance without holds; a caller who drops jobs must know how many."""
    valid_id(instance_id)
    dropped = retry_busy(lambda: _remove_now(instance_id, drop_jobs, reason, epoch, source))
    return retry_busy(lambda: remove(instance_id, reason=reason)) if dropped is None else dropped


def _remove_now(
    instance_id: str, drop_jobs: int | None, reason: str, epoch: int | None, source: str
) -> int | None:
    """Remove it under the lock; if it has very many jobs, only make it unavailable for now."""
    with roster_lock():
        check_rank(roster.locked(instance_id, DEFAULT_DB_ALIAS, epoch), source)
        jobs, holds = load_of(instance_id), holds_of(instance_id)
        if holds or (jobs and drop_jobs != jobs):
            raise _held(instance_id, jobs, holds)
        if jobs <= PIECE:
            return remove(instance_id, reason=reason)
        make_unavailable(instance_id, reason=reason or "to be removed")
        return None


def _held(instance_id: str, jobs: int, holds: dict[str, int]) -> InstanceHeld:
    held = [f"{count} × {kind}" for kind, count in holds.items()]
    holders = ", ".join([pluralize(jobs, "job"), *held])
    return InstanceHeld(
        f"{instance_id} is held by {holders}; say drop_jobs={jobs} to drop its keys",
        jobs=jobs,
        holds=holds,
    )


def _together(operation: Callable[[], T], *, repeatable: bool = False) -> T:
    """Run the operation and record its event in one transaction."""

    def run() -> Any:
        with atomic():
            return operation()

    return retry_busy(run, repeatable=repeatable)
