"""Find jobs: by state, queue, script, error and data, at any number of rows."""

from typing import Any

from django.db.models import Count, Max, QuerySet, TextField
from django.db.models.functions import Cast

from queues.logic.lifecycle import Status
from queues.models import QueuedJob

LOOKED_AT = 20_000  # texts are sought among so many of the newest that fit the rest
MOST_GROUPS = 50


def search(filters: dict[str, str]) -> QuerySet[QueuedJob]:
    """What the non-empty filters ask for, in no order yet."""
    jobs = QueuedJob.objects.visible().select_related("queue")
    exact = {
        "status": "status",
        "queue": "queue__name",
        "mount": "mount",
        "script": "script",
        "fingerprint": "fingerprint",
    }
    given = {exact[name]: filters[name] for name in exact if filters.get(name)}
    if "fingerprint" in given:
        given["status"] = Status.FAILED
    jobs = jobs.filter(**given)
    if filters.get("error"):
        jobs = newest(jobs).filter(error__icontains=filters["error"])
    if filters.get("data"):
        texts = newest(jobs).annotate(data_text=Cast("data", TextField()))
        jobs = texts.filter(data_text__icontains=filters["data"])
    return jobs


def newest(jobs: QuerySet[QueuedJob]) -> Any:
    """Only the newest ones, so that a search for a text never reads a million rows."""
    edge = jobs.order_by("-pk").values_list("pk", flat=True)[LOOKED_AT : LOOKED_AT + 1].first()
    return jobs if edge is None else jobs.filter(pk__gt=edge)


def failure_groups() -> list[dict[str, Any]]:
    """The newest failures by their kind of error, most frequent first."""
    failed = newest(QueuedJob.objects.visible().filter(status=Status.FAILED))
    groups = (
        failed.order_by()
        .values("fingerprint")
        .annotate(count=Count("pk"), newest=Max("pk"), ended_at=Max("ended_at"), error=Max("error"))
    )
    return list(groups.order_by("-count", "fingerprint")[:MOST_GROUPS])
