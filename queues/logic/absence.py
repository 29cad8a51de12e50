"""What becomes of a sticky job whose instance no worker serves, and what it waits for."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class WhenAway(StrEnum):
    """A queue's policy for jobs whose instance is away."""

    WAIT = "wait"  # for as long as it takes
    MOVE = "move"  # the key goes to another instance after the grace
    FAIL = "fail"  # the job ends as failed after the grace


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """What is known of a sticky job that has not started."""

    key: str
    due_at: datetime
    instance_id: str | None  # None: its key is allocated to nobody yet
    away_since: datetime | None = None  # None: a worker serves its instance
    busy_at: str | None = None  # an instance where another job of the key still runs
    behind: int | None = None  # the job that has the turn of its key
    is_paused: bool = False


def acts_at(
    policy: WhenAway, grace_seconds: int, away_since: datetime, due_at: datetime
) -> datetime | None:
    """Return when the policy acts: when job and instance have been due and away for the grace."""
    if policy is WhenAway.WAIT:
        return None
    return max(away_since, due_at) + timedelta(seconds=grace_seconds)


def waits_for(job: WaitingJob, policy: WhenAway, grace_seconds: int, now: datetime) -> str:
    """Write one sentence for the job's page."""
    if job.is_paused:
        return "Its queue is paused."
    if job.due_at > now:
        return "It is not due yet."
    if job.instance_id is None:
        return f"No instance is available for its key {job.key}."
    if job.away_since is not None:
        return _away(job, policy, grace_seconds)
    if job.behind is not None:
        return f"Job {job.behind} with the same key runs first."
    if job.busy_at is not None:
        return f"Another job with the same key is still running on {job.busy_at}."
    return f"A worker of {job.instance_id} starts it when it is free."


def _away(job: WaitingJob, policy: WhenAway, grace_seconds: int) -> str:
    assert job.away_since is not None
    moment = acts_at(policy, grace_seconds, job.away_since, job.due_at)
    absent = f"No worker serves {job.instance_id}"
    if moment is None:
        return f"{absent}. The job waits until one does."
    at = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
    if policy is WhenAway.MOVE:
        return f"{absent}. Its key moves to another instance at {at}."
    return f"{absent}. The job fails at {at}."
