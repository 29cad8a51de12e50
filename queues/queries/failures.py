"""Group failed jobs that have the same error."""

from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db.models import Count, Max, Min

from atributo_site.core.models.names import newest_of_each
from queues.models import QueuedJob
from queues.queries.states import with_keys
from queues.sql.states import INDEXED

LOOKED_AT = 10_000  # failed jobs, newest first
FEW = 1_000
LONGEST_NAME = 120  # of a group
MOST_ERRORS = 500  # groups that a search compares
MANY = 5  # equal failures within the hour that are worth a look
HOUR = timedelta(hours=1)
NO_JOB = -1


def groups(
    most: int = 50, *, queue: str = "", since: datetime | None = None, until: datetime | None = None
) -> list[dict[str, Any]]:
    """Return the largest groups among the newest failed jobs, each with its newest job."""
    asked = {"queue__name": queue, "ended_at__gte": since, "ended_at__lt": until}
    failed = newest_failed(LOOKED_AT).filter(**{name: each for name, each in asked.items() if each})
    largest = _grouped(failed).order_by("-count", "-newest")[:most]
    rows = list(largest)
    newest = [row["newest"] for row in rows] or [NO_JOB]  # as many queries where there is none
    samples = QueuedJob.objects.select_related("queue").in_bulk(newest)
    return [{**row, "job": samples[row["newest"]]} for row in rows if row["newest"] in samples]


def groups_between(
    since: datetime | None, until: datetime | None, most: int
) -> list[dict[str, Any]]:
    """Return the errors of jobs that failed in that time, with how many, an error and when."""
    asked = {"ended_at__gte": since, "ended_at__lt": until}
    failed = newest_failed(LOOKED_AT).filter(**{name: each for name, each in asked.items() if each})
    by_error = failed.order_by().values("fingerprint")
    found = by_error.annotate(
        count=Count("pk"), error=Max("error"), first=Min("ended_at"), last=Max("ended_at")
    )
    return list(found.order_by("-last")[:most])


def error_of(fingerprint: str) -> str:
    """Return the error of the newest job of a group, on one line; an empty text for none."""
    if not fingerprint:
        return ""
    same = newest_failed(LOOKED_AT).filter(fingerprint=fingerprint).order_by("-pk")
    error = same.values_list("error", flat=True).first()
    return " ".join((error or "").split())[:LONGEST_NAME]


def failing(now: datetime) -> list[dict[str, Any]]:
    """Return the groups that grew by MANY within the last hour."""
    recent = newest_failed(FEW).filter(ended_at__gte=now - HOUR).exclude(fingerprint="")
    grown = _grouped(recent).annotate(any_error=Max("error")).filter(count__gte=MANY)
    return [
        {"fingerprint": row["fingerprint"], "count": row["count"], "error": row["any_error"]}
        for row in grown.order_by("-count")[:5]
    ]


def errors_with(words: list[str], most: int) -> list[tuple[str, str, str]]:
    """Return fingerprint, error and script of groups whose newest error holds all words."""
    newest = newest_of_each(QueuedJob, "fingerprint", MOST_ERRORS, "status = 'failed'")
    rows = with_keys(QueuedJob.objects.filter(aborted_at=None), newest).order_by("-pk")
    found = (
        (fingerprint, error, f"{mount}/{script}")
        for fingerprint, error, mount, script in rows.values_list(
            "fingerprint", "error", "mount", "script"
        )
        if all(word in error.lower() for word in words)
    )
    return list(islice(found, most))


def failed_since(since: datetime) -> list[tuple[int, datetime]]:
    """Return queue id and end of the newest failed jobs that ended since."""
    return list(_ended_since(since).values_list("queue_id", "ended_at"))


def failed_by_queue(since: datetime) -> dict[int, int]:
    """Count these jobs by the id of their queue."""
    by_queue = _ended_since(since).values_list("queue_id").annotate(count=Count("pk"))
    return dict(by_queue)


def _ended_since(since: datetime) -> Any:
    # Keys first: asked for more, PostgreSQL leaves their index and walks through the table.
    keys = list(_failed().order_by("-pk").values_list("pk", flat=True)[:FEW])
    return with_keys(QueuedJob.objects.filter(ended_at__gte=since), keys).order_by()


def newest_failed(most: int) -> Any:
    """Return failed jobs, bounded by a step into the index of states."""
    failed = _failed()
    beyond = failed.order_by("-pk").values_list("pk", flat=True)[most : most + 1]
    floor = next(iter(beyond), 0)
    return failed.filter(pk__gt=floor)


def _failed() -> Any:
    return QueuedJob.objects.visible().extra(where=[INDEXED["failed"]])  # nosec B610 # a constant condition


def _grouped(failed: Any) -> Any:
    by_error = failed.order_by().values("fingerprint")
    return by_error.annotate(count=Count("pk"), newest=Max("pk"), oldest=Min("pk"))
