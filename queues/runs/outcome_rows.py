"""Turn the result of an attempt into the row that is recorded about it."""

import json
import random
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from atributo_site.core.database import Dialect
from queues.logic import backoff
from queues.logic.lifecycle import LOST_IN_A_ROW, Callback, Ending, Next, Outcome, after
from queues.logic.options import moment
from queues.logic.secret_fields import fingerprint
from queues.runs.reservation import Reserved, aware

COUNTED = {Outcome.COMPLETE, Outcome.FAILED}
UNFINISHED = {Outcome.LOST, Outcome.RELEASED}
DELAYED = {Outcome.FAILED, Outcome.SNOOZED}
MILLISECOND = timedelta(milliseconds=1)


@dataclass(slots=True)
class AttemptResult:
    """How one attempt ended."""

    job: Reserved
    outcome: Outcome
    started_at: datetime
    ended_at: datetime
    result: Any = None
    error: str = ""
    traceback: str = ""
    back_off_ms: int | None = None
    percent: float | None = None
    note: str = ""
    lines: list[dict[str, Any]] = field(default_factory=list)
    transaction: tuple[int, int] | None = None  # to be completed with the run: id and epoch
    abandoned: bool = False  # its process cannot have rolled back by itself
    until: datetime | None = None  # when a script that snoozes wants to be started again
    is_final: bool = False  # the script has given up

    def end_by(self, message: dict[str, Any]) -> None:
        """Take over from the child's last message how the attempt ended."""
        ending = message.get("ending")
        snoozed = Outcome.SNOOZED if ending == Ending.SNOOZE else Outcome.FAILED
        self.outcome = Outcome.COMPLETE if message["ok"] else snoozed
        self.result = message.get("result")
        self.error = message.get("error", "")
        self.traceback = message.get("traceback", "")
        self.back_off_ms = message.get("back_off")
        self.transaction = message.get("transaction")
        self.abandoned = message.get("abandoned", False)
        self.is_final = ending == Ending.GIVE_UP
        if message.get("due") is not None:
            self.until = moment("due", message["due"])

    def next(self) -> Next:
        outcome = self.outcome
        if self.job.parent is not None and outcome in UNFINISHED:
            outcome = Outcome.ABORTED  # a callback is run at most once
        return after(
            self.job.policy,
            self.job.counts,
            outcome,
            started_at=self.started_at,
            now=self.ended_at,
            back_off_ms=self._back_off_delay_ms() if outcome in DELAYED else 0,
            until=self.until,
            is_final=self.is_final,
        )

    def _back_off_delay_ms(self) -> int:
        if self.back_off_ms is not None:
            return self.back_off_ms
        given = json.loads(self.job.back_off)
        failures = self.job.run_failures + 1
        if isinstance(given, dict) and "strategy" in given:
            return backoff.delay(given["strategy"], given["ms"], failures, random.random())
        unit = given if isinstance(given, int) else backoff.DEFAULT_MS
        return backoff.exponential(unit, failures, random.random())


@dataclass(slots=True)
class OutcomeRow:
    """The columns of queues.sql.outcomes.OUTCOME, and the callback to push once they are stored."""

    row: dict[str, Any]
    result: AttemptResult
    callback: dict[str, str] | None


def outcome_row(result: AttemptResult, d: Dialect) -> OutcomeRow:
    """Decide what becomes of the job, and put it into columns."""
    step = result.next()
    if result.outcome is Outcome.LOST and step.callback is Callback.FAILURE:
        result = replace(result, outcome=Outcome.FAILED, error=lost_too_often(result.error))
    job = result.job
    wait = result.started_at - (aware(job.due_at) or result.started_at)
    row = {
        "id": job.id,
        "attempt": job.attempt + 1,
        "status": step.status.value,
        "outcome": result.outcome.value,
        "result": result.result,
        "runs": step.counts.runs,
        "run_failures": step.counts.run_failures,
        "lost": step.counts.lost,
        "number": job.runs + 1,
        "due_at": d.moment(step.due_at),
        "started_at": d.moment(result.started_at),
        "ended_at": d.moment(result.ended_at),
        "error": result.error,
        "traceback": result.traceback,
        "fingerprint": fingerprint(result.error) if result.error else "",
        "percent": result.percent,
        "note": result.note,
        "counted": int(job.parent is None and result.outcome in COUNTED),
        "retried": int(result.outcome is Outcome.FAILED and step.callback is None),
        "wait_ms": max(0, wait // MILLISECOND),
        "run_ms": max(0, (result.ended_at - result.started_at) // MILLISECOND),
    }
    return OutcomeRow(row, result, _callback(job, step))


def lost_too_often(error: str) -> str:
    return f"{error}, {LOST_IN_A_ROW} times in a row: this job may be what ends it"


def _callback(job: Reserved, step: Next) -> dict[str, str] | None:
    if step.callback is None:
        return None
    given = job.success if step.callback is Callback.SUCCESS else job.failure
    return None if given is None else json.loads(given)
