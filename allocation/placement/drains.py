"""Drain an instance: it gets no new jobs, and the old ones leave or are moved at a pace."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.errors import NotDraining
from allocation.instances import roster
from allocation.instances.availability import (
    MANUAL,
    check_rank,
    is_outranked,
    load_of,
    ranks_below,
    switch_off,
)
from allocation.instances.holds import left_on
from allocation.instances.validation import check_request
from allocation.logic.drain import Move, Progress, moves_due, plan
from allocation.models import Allocation, Drain
from allocation.models.drain import DrainQuerySet
from allocation.placement.destinations import Destinations
from allocation.placement.moves import move_jobs
from allocation.storage.locks import roster_lock
from atributo_site.core.events import record
from atributo_site.core.ids import valid_id
from atributo_site.core.models.clock import from_now

MOST_MOVES = 250  # per transaction and sweep: others wait for so many


def drain(
    instance_id: str,
    *,
    reason: str = "",
    deadline_seconds: float | None = None,
    moves_per_minute: int | None = None,
    source: str = MANUAL,
    epoch: int | None = None,
    using: str = "default",
) -> bool:
    """Start a drain or change a running one; return False if a person wants it available."""
    valid_id(instance_id)
    settings = {"deadline_seconds": deadline_seconds, "moves_per_minute": moves_per_minute}
    check_request(source=source, reason=reason, **settings)
    with roster_lock(using):
        row = roster.locked(instance_id, using, epoch)
        if is_outranked(row, False, source):
            return False
        if ranks_below(source, row) and _still_running(instance_id, using).exists():
            return True  # a person planned it
        values = {
            "reason": reason,
            "deadline_at": _in_seconds(deadline_seconds),
            "moves_per_minute": moves_per_minute,
            "done_at": None,
            "stuck": False,
        }
        drains = Drain.objects.using(using)
        jobs = load_of(instance_id, using)
        _pace_anew(drains.filter(pk=instance_id), moves_per_minute)
        if not drains.filter(pk=instance_id).update(**values):
            drains.create(pk=instance_id, jobs_at_start=jobs, **values)
        switch_off(row, source, reason, using, "instance.draining")
    return True


def adjust(
    instance_id: str,
    *,
    epoch: int | None = None,
    using: str = "default",
    **settings: float | None,
) -> None:
    """Change the pace or the deadline of a running drain; what is not named stays."""
    check_request(**settings)
    values = dict[str, Any](settings)
    if "deadline_seconds" in values:
        values["deadline_at"] = _in_seconds(values.pop("deadline_seconds"))
    with roster_lock(using):
        roster.locked(instance_id, using, epoch)
        running = _still_running(instance_id, using)
        if "moves_per_minute" in settings:
            _pace_anew(running, settings["moves_per_minute"])
        if not running.update(stuck=False, **values):
            raise NotDraining(f"{instance_id} is not draining", instance_id=instance_id)
        record("instance.drain_adjusted", f"instance:{instance_id}", using=using, **settings)


def stop(
    instance_id: str, *, source: str = MANUAL, epoch: int | None = None, using: str = "default"
) -> None:
    """Stop moving jobs; the instance stays unavailable."""
    with roster_lock(using):
        row = roster.locked(instance_id, using, epoch)
        check_rank(row, source)
        current = _running(instance_id, using)
        current.delete()
        facts = {"moved": current.moved, "was_available": row.available}
        roster.change(row, "instance.drain_stopped", using, facts=facts)


def force(
    instance_id: str, *, source: str = MANUAL, epoch: int | None = None, using: str = "default"
) -> None:
    """Set the deadline to now, so that the curator moves all that is left."""
    with roster_lock(using):
        check_rank(roster.locked(instance_id, using, epoch), source)
        _running(instance_id, using)
        Drain.objects.using(using).filter(pk=instance_id).update(deadline_at=Now(), stuck=False)
        record("instance.drain_forced", f"instance:{instance_id}", using=using)


def is_running(instance_id: str, using: str = "default") -> bool:
    return _still_running(instance_id, using).exists()


def progress(instance_id: str, using: str = "default") -> Progress:
    current, left = _running(instance_id, using), left_on(instance_id, using)
    return current.progress(left.keys, sum(left.holds.values()))


def step(
    instance_id: str,
    now: datetime,
    using: str = "default",
    *,
    guard: Callable[[], None] = lambda: None,
) -> int:
    """Move the jobs that are due; finish the drain if nothing holds the instance any more.

    They are planned before the transaction, which `guard` begins: it is all that others wait for.
    """
    current = _still_running(instance_id, using).first()
    if current is None:  # stopped or restored since it was listed
        return 0
    remaining = load_of(instance_id, using)
    paced = current.progress_at_pace(remaining)
    due = moves_due(paced, current.moves_per_minute, now, MOST_MOVES)
    if not due and remaining:
        return 0
    placed = _first(due, instance_id, using)
    moves = _planned(placed, instance_id, using)
    with atomic(using=using):
        guard()
        moved = _move(current, moves, len(placed), using) if placed else 0
        if moved == remaining and left_on(instance_id, using).is_nothing:
            _finish(current, moved, using)
    return moved


def _first(count: int, instance_id: str, using: str) -> list[tuple[str, str]]:
    jobs = Allocation.objects.using(using).on(instance_id).order_by("job_id")
    return list(jobs.values_list("job_id", "instance_id")[:count])


def _planned(placed: list[tuple[str, str]], instance_id: str, using: str) -> list[Move]:
    if not placed:
        return []
    destinations = Destinations.without(instance_id, using)
    destinations.expect(job_id for job_id, _ in placed)
    return plan(placed, destinations.choose)


def _move(current: Drain, moves: list[Move], wanted: int, using: str) -> int:
    running = _still_running(current.pk, using)
    moved = move_jobs(moves, "drain", using, still=running.exists)
    stuck = moved < wanted
    if not running.update(moved=F("moved") + moved, stuck=stuck):  # the drain was stopped meanwhile
        return 0
    if stuck:  # count the pace from now on: jobs that had no room are not caught up
        running.update(paced_at=Now(), moved_before_pace=F("moved"))
    if stuck and not current.stuck:
        record("instance.drain_stuck", f"instance:{current.pk}", using=using, left=wanted - moved)
    if moved:
        record("instance.jobs_moved", f"instance:{current.pk}", using=using, count=moved)
    return moved


def _in_seconds(seconds: float | None) -> Any:
    return None if seconds is None else from_now(seconds)


def _pace_anew(drains: DrainQuerySet, moves_per_minute: float | None) -> None:
    """Count another pace from now on."""
    other = drains.exclude(moves_per_minute=moves_per_minute)
    other.update(paced_at=Now(), moved_before_pace=F("moved"))


def _still_running(instance_id: str, using: str) -> DrainQuerySet:
    return Drain.objects.using(using).running().filter(pk=instance_id)


def _finish(current: Drain, moved: int, using: str) -> None:
    rows = Drain.objects.using(using).filter(pk=current.pk, done_at__isnull=True)
    if rows.update(done_at=Now()):
        total = current.moved + moved
        record("instance.drained", f"instance:{current.pk}", using=using, moved=total)


def _running(instance_id: str, using: str) -> Drain:
    current = Drain.objects.using(using).filter(pk=instance_id).first()
    if current is None:
        raise NotDraining(f"{instance_id} is not draining", instance_id=instance_id)
    return current
