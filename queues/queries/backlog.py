"""Depth: how much waits in each queue and since when, in one query however many there are.

Late: queues that somebody should look at, found among any number of them by one query.
"""

from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now

from atributo_site.core.database import Dialect, dialect
from queues.logic.lateness import TARGET_AGE_SECONDS
from queues.models import Queue, Slot
from queues.runs.reservation import aware
from queues.sql.reserve import ALL_RANKS, SHARED_RANKS

COUNTED = 10_000  # beyond this, «10,000+» is said

# The ORM knows no count that stops; without it a queue of a million jobs would be counted.
WAITING = "FROM queues_queuedjob j WHERE j.queue_id = queues_queue.id AND j.status = 'pending'"
FREE = f"{WAITING} AND j.slot_id IS NULL AND j.rank IN ({', '.join(map(str, ALL_RANKS))})"


def with_depth(queues: "QuerySet[Queue]") -> "QuerySet[Any]":
    """Each queue with `running`, `due`, `delayed` and when the first of each rank was due."""
    now = dialect(queues.db).now
    firsts = {f"first_{number}": _first(rank) for number, rank in enumerate(ALL_RANKS)}
    return queues.annotate(
        running=Count("slots", filter=Q(slots__leased_until__gt=Now())),
        due=_capped(f"j.due_at <= {now}"),
        delayed=_capped(f"j.due_at > {now}"),
        **firsts,
    )


def oldest_seconds(queue: Any, now: datetime) -> float | None:
    """How long the job that waits longest has been due."""
    first = first_due(queue)
    return None if first is None or first > now else (now - first).total_seconds()


def oldest_is_sticky(queue: Any) -> bool:
    """Whether the job that waits longest can run at one instance only."""
    moments = [aware(getattr(queue, f"first_{number}")) for number in range(len(ALL_RANKS))]
    oldest = first_due(queue)
    return oldest is not None and oldest not in moments[: len(SHARED_RANKS)]


def first_due(queue: Any) -> datetime | None:
    moments = [aware(getattr(queue, f"first_{number}")) for number in range(len(ALL_RANKS))]
    return min((moment for moment in moments if moment is not None), default=None)


def _capped(condition: str) -> RawSQL:
    some = f"SELECT 1 {FREE} AND {condition} LIMIT {COUNTED + 1}"
    return RawSQL(f"(SELECT COUNT(*) FROM ({some}) AS counted)", [])


def _first(rank: int) -> RawSQL:
    """One step into the index of waiting jobs."""
    return RawSQL(
        f"(SELECT j.due_at {WAITING} AND j.slot_id IS NULL AND j.rank = {rank} "
        "ORDER BY j.due_at LIMIT 1)",
        [],
    )


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
