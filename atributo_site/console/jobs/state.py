"""Name the state of a job: pending jobs are waiting, delayed, retrying or paused."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from atributo_site.web.format import duration
from queues.logic.repeats import runs_said, until_said


def job_state(job: Any, now: datetime) -> str:
    if job.status == "pending":
        return _pending(job, now)
    if job.status == "progress":
        return "running"
    if job.expired_at is not None:
        return "expired"
    return "aborted" if job.aborted_at is not None else job.status


def with_states(jobs: Iterable[Any], now: datetime) -> list[dict[str, Any]]:
    """Pair each job with its state, as lists show it."""
    return [{"job": job, "state": job_state(job, now)} for job in jobs]


def _pending(job: Any, now: datetime) -> str:
    if job.paused:
        return "paused"
    if job.due_at <= now:
        return "waiting"
    return "retrying" if job.run_failures else "delayed"


def repeat_sentence(job: Any, now: datetime) -> str:
    """Return "every 5 s until tomorrow 14:00, 37 of ∞"; nothing for a job that runs once."""
    if job.repeat_times == 0:
        return ""
    delay = duration(job.repeat_delay_ms / 1000).replace(".0 s", " s")
    every = f"every {delay}" if job.repeat_delay_ms else "continuously"
    until = f" until {until_said(job.repeat_until, now)}" if job.repeat_until else ""
    return f"{every}{until}, {runs_said(job.repeat_times, job.runs)}"
