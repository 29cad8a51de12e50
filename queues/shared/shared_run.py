"""One of many runs in a process, as far as its messages tell."""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from queues.logic.lifecycle import Outcome
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import aware
from queues.shared.holding import Started


@dataclass(eq=False)
class SharedRun:
    started: Started
    since: float  # when it was handed over
    number: int = 0
    begun: float | None = None
    lines: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, Any] | None = None
    is_new_progress: bool = False
    transaction: tuple[int, int] | None = None
    report_at: float = 0.0
    stopped_at: float | None = None
    is_dropped: bool = False  # somebody aborted or deleted it

    def moment(self, monotonic: float) -> datetime:
        now = aware(self.started.now)
        assert now is not None
        return now + timedelta(seconds=max(0.0, monotonic - self.since))

    def receive(self, message: dict[str, Any]) -> None:
        if message["t"] == "log":
            self.lines.append({**message, "moment": self.moment(message["at"])})
        elif message["t"] == "progress":
            self.progress, self.is_new_progress = message, True
        elif message["t"] == "transaction":
            self.transaction = (message["id"], message["epoch"])

    def result(self, message: dict[str, Any]) -> AttemptResult:
        result = self.ended(Outcome.COMPLETE, "")
        result.end_by(message)
        return result

    def ended(self, outcome: Outcome, error: str, *, abandoned: bool = True) -> AttemptResult:
        reported = self.progress or {"percent": None, "note": ""}
        return AttemptResult(
            self.started.job,
            outcome,
            self.moment(self.since),
            self.moment(time.monotonic()),
            error=error,
            percent=reported["percent"],
            note=reported["note"],
            lines=self.lines,
            abandoned=abandoned,
        )

    def is_overdue(self, now: float, ready_at: float | None) -> bool:
        """Return whether its time is up; what its process took to start is not its time."""
        timeout_ms = self.started.job.timeout_ms
        if timeout_ms is None or ready_at is None:
            return False
        return now > max(self.since, ready_at) + timeout_ms / 1000
