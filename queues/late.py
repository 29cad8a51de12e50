"""Late: queues that somebody should look at, found among any number of them by one query."""

from typing import Any

from django.db.models import Exists, OuterRef, Q

from queues.depth import WAITING
from queues.dialect import Dialect, dialect
from queues.logic.lateness import TARGET_AGE_SECONDS
from queues.models import Queue, Slot
from queues.sql import ALL_RANKS


def late(*, using: str = "default") -> Any:
    """Those whose oldest due job is older than its target, as `lateness.needs_a_look` has it."""
    live = Slot.objects.live().filter(queue=OuterRef("pk"))
    counts = Q(target_age_seconds__isnull=False) | ~Exists(live)
    queues = Queue.objects.using(using).active().filter(counts)
    return queues.extra(where=[_has_old(dialect(using))])


def _has_old(d: Dialect) -> str:
    """A step into the index of waiting jobs for each rank."""
    limit = _limit(d)
    steps = (
        f"(SELECT j.id {WAITING} AND j.slot_id IS NULL AND j.rank = {rank} "
        f"AND j.due_at < {limit} ORDER BY j.due_at LIMIT 1) IS NOT NULL"
        for rank in ALL_RANKS
    )
    return f"({' OR '.join(steps)})"


def _limit(d: Dialect) -> str:
    """What was due before it has waited for too long."""
    target = f"COALESCE(queues_queue.target_age_seconds, {TARGET_AGE_SECONDS})"
    ago = f"-{target}" if d.vendor == "postgresql" else f"'-' || {target} || ' seconds'"
    return d.later.replace("%s", ago)
