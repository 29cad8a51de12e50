"""Move jobs from one instance to another, and keep each old placement in the history."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db.models.functions import Now

from allocation.logic.drain import Move
from allocation.models import Allocation, Instance, PastAllocation
from allocation.models.instance import InstanceQuerySet
from allocation.placement.candidates import CandidatesWithRoom, forget_loads, fresh
from allocation.placement.chooser import Chooser
from allocation.placement.place_many import room_of
from allocation.storage import store
from allocation.storage.base import buckets
from allocation.storage.locks import placement_locks, roster_lock
from atributo_site.core.events import current_actor

KEPT = ["job_id", "instance_id", "epoch", "allocated_at", "strategy", "candidates", "score"]
KEPT += ["actor", "channel"]
FEWEST = 5  # jobs that any preview looks at
MOST_SCORED = 100_000  # candidates that one preview compares


@dataclass
class Destinations:
    """Choose where jobs would go: by the strategy, but to no full and no excluded instance."""

    chooser: Chooser
    with_room: CandidatesWithRoom

    @classmethod
    def without(
        cls, instance_id: str | None, using: str, *, among: set[str] | None = None
    ) -> "Destinations":
        known = fresh(using)
        others = set() if among is None else set(known.ids()) - among
        candidates = known.without(others | ({instance_id} if instance_id else set()))
        chooser = Chooser(using, settings.ATRIBUTO.strategy)
        return cls(chooser, CandidatesWithRoom(candidates, room_of(candidates, using)))

    def most(self, wanted: int) -> int:
        """Return how many jobs a preview may look at: some strategies score every instance."""
        scored = max(1, len(self.with_room.candidates.all))
        return min(wanted, max(FEWEST, MOST_SCORED // scored)) if self.chooser.counts else wanted

    def choose(self, job_id: str) -> str | None:
        candidates = self.with_room.candidates
        if not candidates.all:
            return None
        chosen = self.chooser.choose(job_id, candidates)[0].id
        self.chooser.count(chosen)
        self.with_room.add(chosen)
        return chosen

    def choose_again(self, job_id: str, source: str) -> str | None:
        """Choose as if the job had left its instance, which may be chosen again."""
        self.chooser.count(source, -1)
        self.with_room.add(source, -1)
        return self.choose(job_id)


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
        moved = _move(moves, _room(available), reason, using) if still() else 0
    forget_loads(using)
    return moved


def _room(available: InstanceQuerySet) -> dict[str, float]:
    """Return how many more jobs each may get; some may have come since the moves were planned."""
    rows = available.with_load().values_list("pk", "capacity", "load")
    return {key: math.inf if most is None else most - load for key, most, load in rows}


def _move(moves: list[Move], room: dict[str, float], reason: str, using: str) -> int:
    wanted = {move.job_id: move for move in moves if move.target in room}
    rows = Allocation.objects.using(using).filter(pk__in=list(wanted)).order_by("pk")
    moving = []
    for row in rows:
        source, target = wanted[row.pk].source, wanted[row.pk].target
        if row.instance_id == source and room[target] > 0:
            room[target] -= 1
            moving.append(row)
    if not moving:
        return 0
    actor = current_actor()
    PastAllocation.objects.using(using).bulk_create(
        [_past(row, actor.name, f"{reason} to {wanted[row.pk].target}") for row in moving]
    )
    counts: Counter[str] = Counter()
    for row, epoch in zip(moving, store(using).epochs(len(moving)), strict=True):
        counts[row.instance_id] -= 1
        row.instance_id = wanted[row.pk].target
        counts[row.instance_id] += 1
        row.epoch, row.actor, row.channel = epoch, actor.name, actor.channel
        row.strategy, row.candidates, row.score = reason, len(room), None
        row.allocated_at = Now()
    fields = ["instance_id", "epoch", "actor", "channel", "strategy", "candidates", "score"]
    Allocation.objects.using(using).bulk_update(moving, [*fields, "allocated_at"], batch_size=100)
    store(using).count(dict(counts))
    return len(moving)


def _past(row: Allocation, ended_by: str, reason: str) -> PastAllocation:
    kept = {name: getattr(row, name) for name in KEPT}
    return PastAllocation(**kept, ended_by=ended_by, end_reason=reason[:64])
