"""Pair jobs with the words for their states, and say how a job repeats."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from atributo_site.web.format import duration
from queues.logic.repeats import runs_said, until_said
from queues.queries.states import job_state


def with_states(jobs: Iterable[Any], now: datetime) -> list[dict[str, Any]]:
    """Pair each job with its state, as lists show it."""
    return [{"job": job, "state": job_state(job, now)} for job in jobs]


def repeat_sentence(job: Any, now: datetime) -> str:
    """Return "every 5 s until tomorrow 14:00, 37 of ∞"; nothing for a job that runs once."""
    if job.repeat_times == 0:
        return ""
    delay = duration(job.repeat_delay_ms / 1000)
    every = f"every {delay}" if job.repeat_delay_ms else "continuously"
    until = f" until {until_said(job.repeat_until, now)}" if job.repeat_until else ""
    return f"{every}{until}, {runs_said(job.repeat_times, job.runs)}"
