"""Repeating: the jobs that will run again, with what became of their last runs."""

from typing import Any

from django.db.models import F

from queues.models import QueuedJob, Run

LAST_RUNS = 20

# SQLite takes a partial index only where its condition stands in the query as it was defined.
INDEXED = "queues_queuedjob.ended_at IS NULL AND NOT (queues_queuedjob.repeat_times = 0)"


def repeating() -> Any:
    """Unfinished jobs that repeat, in any order."""
    return QueuedJob.objects.visible().extra(where=[INDEXED])


def last_runs(ids: list[int]) -> dict[int, list[Run]]:
    """Job id → its last attempts, oldest first; one query for all."""
    found: dict[int, list[Run]] = {job_id: [] for job_id in ids}
    recent = Run.objects.filter(job_id__in=ids, attempt__gt=F("job__attempt") - LAST_RUNS)
    for run in recent.defer("error", "traceback", "note").order_by("job_id", "attempt"):
        found[run.job_id].append(run)
    return found
