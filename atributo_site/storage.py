"""What is kept, for how long, how much of it there is, and how large the database is."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Max, Min

from allocation.models import Event
from allocation.transactions.models import DocumentVersion, Transaction
from atributo_site.keyset import capped_count, said_count
from pools.models import BackendChange
from queues.models import Queue, QueuedJob

SIZES = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}


@dataclass(frozen=True)
class Kept:
    what: str
    days: str
    set_by: str
    said: str  # how many
    oldest: datetime | None


def kept() -> list[Kept]:
    """A constant number of queries, none of which counts a whole table."""
    env, events = settings.ATRIBUTO, "ATRIBUTO_EVENT_RETENTION_DAYS"
    versions, over = "ATRIBUTO_VERSION_RETENTION_DAYS", "ATRIBUTO_TRANSACTION_RETENTION_DAYS"
    return [
        _finished_jobs(),
        _in_order(Event, "at", "Events", env.event_retention_days, events),
        _in_order(BackendChange, "at", "Changes in DNS", env.event_retention_days, events),
        _in_order(Transaction, "started_at", "Transactions", env.transaction_retention_days, over),
        _in_order(DocumentVersion, "at", "Versions", env.version_retention_days, versions),
    ]


def database_bytes() -> int:
    with connection.cursor() as cursor:
        cursor.execute(SIZES[connection.vendor])
        return cursor.fetchone()[0]


def _finished_jobs() -> Kept:
    ended = QueuedJob.objects.filter(ended_at__isnull=False)
    first = ended.order_by("ended_at").values_list("ended_at", flat=True)
    days = Queue.objects.existing().aggregate(
        least=Min("retention_days"), most=Max("retention_days")
    )
    said = _said_days(days["least"] or 0, days["most"] or 0)
    return Kept("Finished jobs", said, "each queue", said_count(capped_count(ended)), _one(first))


def _in_order(model: Any, moment: str, what: str, days: int, setting: str) -> Kept:
    """Rows come and go in the order of their keys: their number is what lies between the two."""
    first, oldest = _one(model.objects.order_by("pk").values_list("pk", moment)) or (0, None)
    last = _one(model.objects.order_by("-pk").values_list("pk", flat=True)) or -1
    said = f"about {last - first + 1:,}" if last > first else f"{last - first + 1}"
    return Kept(what, _said_days(days, days), setting, said, oldest)


def _one(rows: Any) -> Any:
    return next(iter(rows[:1]), None)


def _said_days(least: int, most: int) -> str:
    if least == most:
        return f"{least} day{'' if least == 1 else 's'}"
    return f"{least} to {most} days"
