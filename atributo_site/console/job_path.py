"""The way of a job through its states: pushed, each attempt, and what comes next."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from atributo_site.console.durations import duration

SHOWN = 4  # attempts; what came before them is said in one step


@dataclass(frozen=True)
class Step:
    word: str  # a state
    said: str  # below it
    gap: str = ""  # the time between the step before and this one


def path(job: Any, attempts: list[dict[str, Any]], state: str, now: datetime) -> list[Step]:
    """Attempts come oldest first, as many as are kept."""
    shown = attempts[-SHOWN:]
    steps = [Step("pushed", f"{_between(job.created_at, now)} ago")]
    left_out = shown[0]["attempt"] - 1 if shown else 0
    if left_out:
        steps.append(Step("…", f"{left_out} attempt{'s' if left_out > 1 else ''} before"))
    before = None if left_out else job.created_at
    for attempt in shown:
        steps.append(_attempted(attempt, before, now))
        before = attempt["ended_at"]
    return [*steps, *_next(job, state, before, now)]


def _attempted(attempt: dict[str, Any], before: datetime | None, now: datetime) -> Step:
    begun, ended = attempt["started_at"], attempt["ended_at"]
    said = f"attempt {attempt['attempt']} · {_between(begun, ended or now)}"
    return Step(attempt["outcome"], said, _between(before, begun) if before else "")


def _next(job: Any, state: str, before: datetime | None, now: datetime) -> list[Step]:
    """What waits comes after the attempts; what was aborted meanwhile ends without one."""
    if job.status == "pending":
        due = "due" if job.due_at <= now else f"in {_between(now, job.due_at)}"
        return [Step(state, due)]
    if state == "aborted" and (before is None or before < job.aborted_at):
        return [Step(state, f"{_between(job.aborted_at, now)} ago")]
    return []


def _between(begin: datetime, end: datetime) -> str:
    return duration(max(0.0, (end - begin).total_seconds()))
