"""The word for how a job is: what the API calls pending is waiting, delayed or retrying."""

from datetime import datetime
from typing import Any

from queues.logic.lifecycle import FOREVER
from queues.shown import run_of_runs


def job_state(job: Any, now: datetime) -> str:
    if job.status == "pending":
        return _pending(job, now)
    if job.status == "progress":
        return "running"
    return "aborted" if job.aborted_at is not None else job.status


def _pending(job: Any, now: datetime) -> str:
    if job.due_at <= now:
        return "waiting"
    return "retrying" if job.run_failures else "delayed"


def repeats_said(job: Any) -> str:
    """«run 2 of 4», with what makes it repeat; nothing for a job that runs once."""
    if job.repeat_times == 0:
        return ""
    times = "for ever" if job.repeat_times == FOREVER else f"{job.repeat_times} more times"
    every = f"every {_span(job.repeat_delay_ms)}" if job.repeat_delay_ms else "at once"
    until = f" until {job.repeat_until:%Y-%m-%d %H:%M} UTC" if job.repeat_until else ""
    return f"Repeats {every}, {times}{until}: run {run_of_runs(job)}"


def _span(milliseconds: int) -> str:
    from atributo_site.console.durations import duration

    return duration(milliseconds / 1000)
