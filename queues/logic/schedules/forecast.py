"""What people ask of a rule: its next runs, what clocks do to them, what a change brings."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from queues.logic.schedules.rule import Rule
from queues.logic.schedules.wall_clock import MICROSECOND, SECOND, Shift, WallClock, shift_of

WEEK = timedelta(days=7)
UNITS = [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)]


@dataclass(frozen=True)
class ExpectedRun:
    at: datetime  # in UTC
    local: datetime  # on the wall of the rule's zone
    note: str = ""  # what a change of clocks does to it


def expected_runs(rule: Rule, after: datetime, most: int) -> list[ExpectedRun]:
    return [
        ExpectedRun(at, at.astimezone(rule.zone), clock_note(rule, at))
        for at in rule.upcoming(after, most)
    ]


def clock_note(rule: Rule, at: datetime) -> str:
    """Return a sentence if the run is one that a change of clocks moves or doubles."""
    if not isinstance(rule.timing, WallClock):
        return ""
    local = at.astimezone(rule.zone)
    naive = local.replace(tzinfo=None, fold=0)
    if shift_of(naive, rule.zone) is Shift.DOUBLED:
        return _doubled(rule.timing, local)
    before = (at - SECOND).astimezone(rule.zone).replace(tzinfo=None, fold=0) + SECOND
    missing = list(rule.timing.between(before, naive)) if before < naive else []
    if not missing:
        return ""
    times = ", ".join(f"{each:%H:%M}" for each in missing[:3])
    times += ", ..." if len(missing) > 3 else ""
    verb = "does" if len(missing) == 1 else "do"
    if rule.timing.by_elapsed_time:
        return f"{times} {verb} not exist on {_day(missing[0])}: left out"
    return f"{times} {verb} not exist on {_day(missing[0])}: runs at {local:%H:%M}"


def _doubled(timing: WallClock, local: datetime) -> str:
    time = f"{local:%H:%M} happens twice on {_day(local)}"
    if timing.by_elapsed_time:
        return f"{time}: this is the {'second' if local.fold else 'first'} one"
    return f"{time}: runs the first time only"


def _day(local: datetime) -> str:
    return f"{local.day} {local:%B}"


def difference(old: Rule, new: Rule, now: datetime) -> str:
    """Say what a change of the rule brings: more or fewer runs a week, an earlier or later one."""
    return f"{_of_count(_in_a_week(old, now), _in_a_week(new, now))}, {_of_next(old, new, now)}"


def _in_a_week(rule: Rule, now: datetime) -> int:
    return rule.count(now + MICROSECOND, now + WEEK + MICROSECOND)


def _of_count(before: int, after: int) -> str:
    if before == after:
        return "as many runs in the next 7 days as before"
    number = abs(after - before)
    which = "more" if after > before else "fewer"
    return f"{number} {'run' if number == 1 else 'runs'} {which} in the next 7 days"


def _of_next(old: Rule, new: Rule, now: datetime) -> str:
    before, after = old.next_after(now), new.next_after(now)
    if before is None or after is None:
        return (
            "no further run" if after is None else "the next run is one that was not there before"
        )
    if before == after:
        return "the next run stays where it is"
    span = span_said(abs((after - before).total_seconds()))
    return f"the next one {span} {'earlier' if after < before else 'later'}"


def span_said(seconds: float) -> str:
    """Write the largest unit that fits, such as "40 minutes"; of hours and days also the rest."""
    left, parts = round(seconds), []
    for name, size in UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(parts[:2]) or "0 seconds"
