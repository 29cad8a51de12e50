"""Say what is kept, for how long and how much of it, and how large the database is."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Max, Min, Subquery

from allocation.transactions.models import DocumentVersion, Transaction
from atributo_site.core.models import Event
from atributo_site.core.text import pluralize
from atributo_site.web.pagination import capped_count, format_count
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
    """Use a constant number of queries, none of which counts a whole table."""
    env, events = settings.ATRIBUTO, "ATRIBUTO_EVENT_RETENTION_DAYS"
    versions, over = "ATRIBUTO_VERSION_RETENTION_DAYS", "ATRIBUTO_TRANSACTION_RETENTION_DAYS"
    return [
        _finished_jobs(),
        _in_order(Event, "at", "Events", env.event_retention_days, events),
        _in_order(Transaction, "started_at", "Transactions", env.transaction_retention_days, over),
        _in_order(DocumentVersion, "at", "Versions", env.version_retention_days, versions),
    ]


def database_bytes() -> int:
    with connection.cursor() as cursor:
        cursor.execute(SIZES[connection.vendor])
        return cursor.fetchone()[0]


def _finished_jobs() -> Kept:
    ended = QueuedJob.objects.filter(ended_at__isnull=False)
    oldest = Subquery(ended.order_by("ended_at").values("ended_at")[:1])
    extremes = (
        Queue.objects.existing()
        .annotate(first=oldest)
        .aggregate(least=Min("retention_days"), most=Max("retention_days"), oldest=Min("first"))
    )
    days = _days_text(extremes["least"] or 0, extremes["most"] or 0)
    many = format_count(capped_count(ended))
    return Kept("Finished jobs", days, "each queue", many, extremes["oldest"])


def _in_order(model: Any, moment: str, what: str, days: int, setting: str) -> Kept:
    """Estimate the rows from the first and last key, as rows come and go in their order."""
    newest = Subquery(model.objects.order_by("-pk").values("pk")[:1])
    ends = model.objects.order_by("pk").annotate(last=newest).values_list("pk", "last", moment)
    first, last, oldest = ends.first() or (0, -1, None)
    said = f"about {last - first + 1:,}" if last > first else f"{last - first + 1}"
    return Kept(what, _days_text(days, days), setting, said, oldest)


def _days_text(least: int, most: int) -> str:
    if least == most:
        return pluralize(least, "day")
    return f"{least} to {most} days"
