"""Describe batches, and what waits for what, for screens, REST and commands."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Count, Q

from atributo_site.core.database import execute
from queues.links.sql.statements import COUNT_WAITING
from queues.models import Batch, Dependency, QueuedJob
from queues.models.job import IS_BLOCKED
from queues.queries.states import job_state

MOST_COUNTED = 10_000
MOST_LINKS = 100  # jobs on each side that a drawing shows
STATES = ("waiting", "blocked", "running", "complete", "failed", "aborted", "expired")
PENDING = Q(status="pending")
FAILED = Q(status="failed", aborted_at=None, expired_at=None)
COUNTED = {
    "waiting": Count("pk", filter=PENDING & ~IS_BLOCKED),
    "blocked": Count("pk", filter=PENDING & IS_BLOCKED),
    "running": Count("pk", filter=Q(status="progress")),
    "complete": Count("pk", filter=Q(status="complete")),
    "failed": Count("pk", filter=FAILED),
    "aborted": Count("pk", filter=Q(status="failed", aborted_at__isnull=False)),
    "expired": Count("pk", filter=Q(status="failed", expired_at__isnull=False)),
    "total": Count("pk"),
}


def counts_of(batch: Batch) -> dict[str, int]:
    """Count its jobs by state; those that were deleted after its end stay in its total."""
    counts: dict[str, int] = QueuedJob.objects.filter(batch=batch).aggregate(**COUNTED)
    if batch.ended_at is not None:
        counts["total"] = max(counts["total"], batch.complete_jobs + batch.failed_jobs)
        counts["complete"] = max(counts["complete"], batch.complete_jobs)
    return counts


def batch_dict(batch: Batch, *, counts: dict[str, int] | None = None) -> dict[str, Any]:
    counts = counts_of(batch) if counts is None else counts
    return {
        "id": str(batch.pk),
        "name": batch.name,
        "queue": batch.queue.name,
        "state": str(batch.state),
        "done": batch.done,
        "failed": batch.failed,
        "jobs": counts,
        "percent": percent_of(batch, counts),
        "callback": str(batch.callback_job) if batch.callback_job else None,
        "restarts": batch.restarts,
        "created_by": batch.created_by,
        "created_at": batch.created_at,
        "closed_at": batch.closed_at,
        "ended_at": batch.ended_at,
    }


def percent_of(batch: Batch, counts: dict[str, int]) -> float:
    """Return how much of it has ended; all of an empty batch that is over."""
    if batch.ended_at is not None:
        return 100.0
    open_ones = counts["waiting"] + counts["blocked"] + counts["running"]
    total = counts["total"]
    return round(100.0 * (total - open_ones) / total, 1) if total else 0.0


def waiting_counts() -> dict[str, int]:
    """Count batches that have not ended, and jobs that wait for others, for /metrics."""
    counted = execute(COUNT_WAITING, {"most": MOST_COUNTED + 1}).rows[0]
    return dict(zip(("batches_open", "batches_running", "jobs_blocked"), counted, strict=True))


def before(job_ids: Iterable[int]) -> list[Dependency]:
    """Return the links to what these jobs wait for, or waited for."""
    return list(Dependency.objects.filter(job_id__in=list(job_ids)).order_by("after_id", "job_id"))


def after(job_ids: Iterable[int]) -> list[Dependency]:
    """Return the links from the jobs that wait for these, or waited."""
    return list(Dependency.objects.filter(after_id__in=list(job_ids)).order_by("job_id"))


def wait_reason(job: QueuedJob) -> str:
    """Say which jobs a blocked one waits for."""
    links = Dependency.objects.filter(job_id=job.pk).values("after_id")
    open_ones = QueuedJob.objects.unfinished().filter(pk__in=links).order_by("pk")
    first = [str(pk) for pk in open_ones.values_list("pk", flat=True)[:4]]
    if not first:
        return "The jobs that it waited for have ended; it starts within moments."
    more = " and others" if len(first) > 3 else ""
    noun = "job" if len(first) == 1 else "jobs"
    return f"It waits for {noun} {', '.join(first[:3])}{more}."


def links_of(job_id: int, now: datetime) -> dict[str, list[dict[str, Any]]]:
    """Return the jobs before and after this one, each with its state."""
    sides = {"after": before([job_id])[:MOST_LINKS], "before": after([job_id])[:MOST_LINKS]}
    ids = {link.after_id for link in sides["after"]} | {link.job_id for link in sides["before"]}
    jobs = QueuedJob.objects.in_bulk(list(ids))
    return {
        "after": [
            _linked(link, jobs.get(link.after_id), link.after_id, now) for link in sides["after"]
        ],
        "before": [
            _linked(link, jobs.get(link.job_id), link.job_id, now) for link in sides["before"]
        ],
    }


def _linked(link: Dependency, job: QueuedJob | None, job_id: int, now: datetime) -> dict[str, Any]:
    return {
        "id": str(job_id),
        "script": f"{job.mount}/{job.script}" if job else "",
        "state": job_state(job, now) if job else "deleted",
        "even_if_failed": link.even_if_failed,
    }
