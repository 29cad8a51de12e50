"""Sparing: what repeats does not end along with other jobs, unless that is said."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count

from queues.models import QueuedJob
from queues.models.job import REPEATING

ENDING = ("abort", "delete")  # nothing is left of a schedule then
SPARED = "It repeats; schedules are left alone unless that is said."


def spared(action: str, ids: Sequence[int]) -> set[int]:
    """Those of these jobs that the action would keep from running again."""
    if action not in ENDING:
        return set()
    repeating = QueuedJob.objects.filter(pk__in=ids).filter(REPEATING)
    return set(repeating.values_list("pk", flat=True))


def schedules_among(jobs: Any, most: int) -> int:
    """How many of the newest will run again."""
    return jobs.order_by("-pk")[:most].aggregate(n=Count("pk", filter=REPEATING))["n"]
