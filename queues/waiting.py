"""What a sticky job waits for: its instance, a worker there, or another job of its key."""

from datetime import datetime

from queues.logic.away import Errand, WhenAway, waits_for
from queues.models import QueuedJob, Station


def waiting_said(job: QueuedJob, now: datetime) -> str:
    """One sentence; nothing for a job that is not sticky or does not wait."""
    if job.sticky_key is None or job.status != "pending":
        return ""
    if job.paused:
        return "It is paused."
    if job.slot_id is not None:
        return f"A worker of {job.routed_to} is about to start it."
    errand = Errand(
        job.sticky_key,
        job.due_at,
        job.routed_to,
        _away_since(job.routed_to),
        _busy_elsewhere(job),
        job.queue.paused,
    )
    return waits_for(errand, WhenAway(job.queue.when_away), job.queue.away_seconds, now)


def _away_since(instance_id: str | None) -> datetime | None:
    station = Station.objects.away().filter(pk=instance_id).first() if instance_id else None
    return None if station is None else station.served_until


def _busy_elsewhere(job: QueuedJob) -> str | None:
    held = QueuedJob.objects.filter(sticky_key=job.sticky_key, slot_id__gt=0)
    return held.exclude(routed_to=job.routed_to).values_list("routed_to", flat=True).first()
