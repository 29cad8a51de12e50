"""Describe a repetition in words, and compute the moments of its next runs."""

from datetime import UTC, datetime, timedelta

from queues.logic.lifecycle import FOREVER

MOST_AHEAD = 5
LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


def runs_said(repeat_times: int, runs: int) -> str:
    """Write finished runs of all, such as "37 of ∞"."""
    return f"{runs} of {'∞' if repeat_times == FOREVER else repeat_times + 1}"


def until_said(until: datetime, now: datetime) -> str:
    """Write "today 14:00", "tomorrow 14:00", or the whole date."""
    days = (until.date() - now.date()).days
    day = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get(days, f"{until:%Y-%m-%d}")
    return f"{day} {until:%H:%M}"


def next_in_step(due_at: datetime, delay_ms: int, now: datetime) -> datetime:
    """Return the first moment of its own rhythm that is not over."""
    if due_at >= now or delay_ms <= 0:
        return max(due_at, now)
    delay = timedelta(milliseconds=delay_ms)
    return due_at + delay * -((due_at - now) // delay)


def next_in_new_rhythm(due_at: datetime, old_ms: int, new_ms: int, now: datetime) -> datetime:
    """Count from the run before; what is due already stays due."""
    if due_at <= now:
        return due_at
    before = due_at - timedelta(milliseconds=old_ms)
    delay = timedelta(milliseconds=new_ms)
    if delay > LAST_MOMENT - before:
        return LAST_MOMENT
    return next_in_step(before + delay, new_ms, now)


def next_runs(
    due_at: datetime, delay_ms: int, repeat_times: int, runs: int, until: datetime | None
) -> list[datetime]:
    """Return the next few, if each run starts when it is due; the last may begin after `until`."""
    left = MOST_AHEAD if repeat_times == FOREVER else repeat_times + 1 - runs
    moments: list[datetime] = []
    for number in range(min(MOST_AHEAD, max(0, left))):
        delay = timedelta(milliseconds=delay_ms * number)
        is_last = moments and until is not None and moments[-1] > until
        if is_last or delay > LAST_MOMENT - due_at:
            break
        moments.append(due_at + delay)
    return moments
