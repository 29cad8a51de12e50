"""What becomes of a job when a run ends. The table of promises stands in docs/queues.md."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

FOREVER = -1
LOST_IN_A_ROW = 3
ABORTED = "Job aborted."
EXPIRED = "Job expired."


class Status(StrEnum):
    """What the API shows."""

    PENDING = "pending"
    PROGRESS = "progress"
    COMPLETE = "complete"
    FAILED = "failed"


class Outcome(StrEnum):
    """How one attempt ended."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    LOST = "lost"  # the whole worker died
    RELEASED = "released"  # a stopping worker gave it back
    ABORTED = "aborted"
    SNOOZED = "snoozed"  # the script asked to be started again later


class Ending(StrEnum):
    """How a script decided that its attempt ends."""

    SNOOZE = "snooze"
    RETRY = "retry"
    GIVE_UP = "give_up"


class Callback(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Policy:
    """What was promised at push."""

    max_failures: int = 0
    repeat_times: int = 0
    repeat_until: datetime | None = None
    repeat_delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """Finished runs, failures of the current run, lost attempts in a row."""

    runs: int = 0
    run_failures: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Next:
    """The job's next state; `due_at` is None where it does not change."""

    status: Status
    counts: Counts
    due_at: datetime | None = None
    callback: Callback | None = None


def after(
    policy: Policy,
    counts: Counts,
    outcome: Outcome,
    *,
    started_at: datetime,
    now: datetime,
    back_off_ms: int = 0,
    until: datetime | None = None,
    is_final: bool = False,
) -> Next:
    """Decide what follows one ended attempt.

    `until` is the moment that a script has chosen for the next one, and `is_final` says that it has
    given up.
    """
    if outcome is Outcome.COMPLETE:
        return _finished(policy, counts, Status.COMPLETE, started_at)
    if outcome is Outcome.FAILED:
        if is_final:
            failed = Counts(counts.runs, counts.run_failures + 1, 0)
            return _finished(policy, failed, Status.FAILED, started_at)
        return _failed(policy, counts, started_at, now, back_off_ms)
    if outcome is Outcome.SNOOZED:
        later = until or now + timedelta(milliseconds=back_off_ms)
        return Next(Status.PENDING, Counts(counts.runs, counts.run_failures, 0), later)
    if outcome is Outcome.LOST:
        return _lost(policy, counts, started_at, now)
    if outcome is Outcome.RELEASED:
        return Next(Status.PENDING, counts)
    return Next(Status.FAILED, counts)


def _failed(
    policy: Policy, counts: Counts, started_at: datetime, now: datetime, back_off_ms: int
) -> Next:
    failures = counts.run_failures + 1
    counts = Counts(counts.runs, failures, 0)
    if policy.max_failures != FOREVER and failures > policy.max_failures:
        return _finished(policy, counts, Status.FAILED, started_at)
    return Next(Status.PENDING, counts, now + timedelta(milliseconds=back_off_ms))


def _lost(policy: Policy, counts: Counts, started_at: datetime, now: datetime) -> Next:
    lost = counts.lost + 1
    if lost >= LOST_IN_A_ROW:
        failed = Counts(counts.runs, counts.run_failures + 1, lost)
        return _finished(policy, failed, Status.FAILED, started_at)
    return Next(Status.PENDING, Counts(counts.runs, counts.run_failures, lost), now)


def _finished(policy: Policy, counts: Counts, status: Status, started_at: datetime) -> Next:
    """End a run for good: it counts, its callback is due, and it may be followed by another."""
    callback = Callback.SUCCESS if status is Status.COMPLETE else Callback.FAILURE
    runs = counts.runs + 1
    if not repeats(policy, runs, started_at):
        return Next(status, Counts(runs, counts.run_failures, 0), None, callback)
    due_at = started_at + timedelta(milliseconds=policy.repeat_delay_ms)
    return Next(Status.PENDING, Counts(runs, 0, 0), due_at, callback)


def repeats(policy: Policy, runs: int, started_at: datetime) -> bool:
    """Return whether another run follows the `runs` finished ones."""
    if policy.repeat_until is not None and started_at > policy.repeat_until:
        return False
    return policy.repeat_times == FOREVER or runs <= policy.repeat_times
