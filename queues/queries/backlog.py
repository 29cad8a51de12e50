"""How much waits in each queue and since when, and which queues are late.

Each is one query, however many queues there are.
"""

from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now

from atributo_site.core.database import dialect
from queues.models import Queue, Slot
from queues.runs.reservation import aware
from queues.sql import backlog
from queues.sql.reserve import ALL_RANKS, ANYBODYS_RANKS

MOST_OVERDUE = 200


def with_depth(queues: "QuerySet[Queue]") -> "QuerySet[Any]":
    """Annotate queues with `running`, `due`, `delayed` and when the first of each rank was due."""
    now = dialect(queues.db).now
    firsts = {
        f"first_{number}": RawSQL(backlog.first_due_at(rank), [])  # nosec B611 # of constants and dialect
        for number, rank in enumerate(ALL_RANKS)
    }
    return queues.annotate(
        running=Count("slots", filter=Q(slots__leased_until__gt=Now())),
        due=RawSQL(backlog.capped_count(f"j.due_at <= {now}"), []),  # nosec B611 # of constants and dialect
        delayed=RawSQL(backlog.capped_count(f"j.due_at > {now}"), []),  # nosec B611 # of constants and dialect
        waits_for=RawSQL(backlog.WAITS_FOR, []),  # nosec B611 # a constant
        flows_waiting=RawSQL(backlog.FLOWS_WAITING, []),  # nosec B611 # a constant
        **firsts,
    )


def oldest_seconds(queue: Any, now: datetime) -> float | None:
    """Return how long the job that waits longest has been due."""
    first = first_due(queue)
    return None if first is None or first > now else (now - first).total_seconds()


def oldest_is_sticky(queue: Any) -> bool:
    """Return whether the job that waits longest can run at one instance only."""
    moments = [aware(getattr(queue, f"first_{number}")) for number in range(len(ALL_RANKS))]
    oldest = first_due(queue)
    return oldest is not None and oldest not in moments[: len(ANYBODYS_RANKS)]


def first_due(queue: Any) -> datetime | None:
    moments = [aware(getattr(queue, f"first_{number}")) for number in range(len(ALL_RANKS))]
    return min((moment for moment in moments if moment is not None), default=None)


def late() -> Any:
    """Return queues whose oldest due job is older than the target: see lateness.needs_a_look."""
    live = Slot.objects.live().filter(queue=OuterRef("pk"))
    counts = Q(target_age_seconds__isnull=False) | ~Exists(live)
    queues = Queue.objects.active().filter(counts)
    return queues.extra(where=[backlog.has_late(dialect())])  # nosec B610 # a constant condition


def overdue_queues() -> tuple[str, ...]:
    """Return queues whose oldest due job is older than the target, also busy and paused ones."""
    rows = Queue.objects.existing().extra(where=[backlog.has_late(dialect())])  # nosec B610 # a constant condition
    return tuple(rows.order_by("name").values_list("name", flat=True)[:MOST_OVERDUE])
