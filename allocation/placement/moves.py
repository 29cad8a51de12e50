"""Move jobs from one instance to another, and keep each old placement in the history."""

import math
from collections.abc import Callable, Iterable

from allocation.logic.drain import Move
from allocation.logic.labels import Labels, as_texts, has
from allocation.models import Allocation, Instance
from allocation.models.instance import InstanceQuerySet
from allocation.placement.candidates import forget_loads
from allocation.storage import Relocation, store
from allocation.storage.base import buckets
from allocation.storage.locks import placement_locks, roster_lock
from atributo_site.core.events import current_actor


def _always() -> bool:
    return True


def move_jobs(
    moves: list[Move],
    reason: str,
    using: str = "default",
    *,
    still: Callable[[], bool] = _always,
) -> int:
    """Move jobs that are still on their source to targets with room; return how many.

    `still` is called while nobody can change the list of instances; if it is false, none moves.
    """
    if not moves:
        return 0
    targets = {move.target for move in moves}
    available = Instance.objects.using(using).available().filter(pk__in=targets)
    if available.filter(capacity__isnull=False).exists():  # room can only be counted under the lock
        held = roster_lock(using)
    else:
        held = placement_locks(buckets(move.job_id for move in moves), using)
    with held:
        moved = _move(moves, available, reason, using) if still() else 0
    forget_loads(using)
    return moved


def asked_labels(job_ids: Iterable[str], using: str) -> dict[str, Labels]:
    """Return job → the labels that its instance must have, for the jobs that ask for any."""
    rows = Allocation.objects.using(using).filter(pk__in=list(job_ids), labels__isnull=False)
    return {job_id: labels or {} for job_id, labels in rows.values_list("job_id", "labels")}


def _move(moves: list[Move], available: InstanceQuerySet, reason: str, using: str) -> int:
    """Move the jobs by one statement, however many they are."""
    room = _room(available)
    candidates = len(room)
    fitting = [move for move in moves if move.target in room]
    fitting = _obeying_labels(fitting, available, using)
    if any(left < math.inf for left in room.values()):
        fitting = _within(room, fitting, using)
    if not fitting:
        return 0
    actor = current_actor()
    chosen = [(move.job_id, move.source, move.target) for move in fitting]
    return store(using).move(Relocation(chosen, reason, candidates, actor.name, actor.channel))


def _room(available: InstanceQuerySet) -> dict[str, float]:
    """Return how many more jobs each may get; some may have come since the moves were planned."""
    rows = available.with_load().values_list("pk", "capacity", "load")
    return {key: math.inf if most is None else most - load for key, most, load in rows}


def _obeying_labels(moves: list[Move], available: InstanceQuerySet, using: str) -> list[Move]:
    """Return the moves whose targets have what the job asks for; either may have changed."""
    asked = asked_labels((move.job_id for move in moves), using)
    if not asked:
        return moves
    labels = {key: as_texts(own) for key, own in available.values_list("pk", "labels")}
    return [move for move in moves if has(labels[move.target], asked.get(move.job_id, {}))]


def _within(room: dict[str, float], moves: list[Move], using: str) -> list[Move]:
    """Return the moves for which there is room; jobs that are elsewhere by now need none."""
    places = store(using).find_many([move.job_id for move in moves])
    fitting = []
    for move in sorted(moves, key=lambda each: each.job_id):
        if places.get(move.job_id) == move.source and room[move.target] > 0:
            room[move.target] -= 1
            fitting.append(move)
    return fitting
