"""A month of a schedule: how many runs each day had, by outcome, and how many it expects."""

from calendar import Calendar
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import Any

from django.db.models import Case, Count, IntegerField, Value, When

from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.rule import Rule
from queues.logic.schedules.wall_clock import MICROSECOND, moment_on_wall
from queues.models import Schedule
from queues.schedules.definition import rule_of

MOST_RUNS = 100_000  # that happened and are counted: the newest ones; a run a minute makes 60,480
YEARS_AHEAD = 30
ORDER = ("failed", "missed", "aborted", "skipped", "complete", "pushed", "waiting", "expected")
DAY = timedelta(days=1)


@dataclass(frozen=True)
class DayOfMonth:
    day: date
    is_in_month: bool
    is_today: bool
    counts: list[tuple[str, int]]


def month_of(schedule: Schedule, text: str, now: datetime) -> dict[str, Any]:
    """Return the weeks of a month such as 2026-11, and the months beside it."""
    try:
        rule = rule_of(schedule)
        zone: tzinfo = rule.zone
    except BadRule:
        rule, zone = None, UTC
    today = now.astimezone(zone).date()
    first = _first(text, today)
    days = list(Calendar().itermonthdates(first.year, first.month))
    begins = [_begin(day, zone) for day in [*days, days[-1] + DAY]]
    counts, counted_from = _past(schedule, begins)
    if rule is not None and schedule.state == "active":
        for count, expected in zip(counts, _future(schedule, rule, begins, now), strict=True):
            count["expected"] = expected
    shown = [_day(*each, first, today) for each in zip(days, counts, strict=True)]
    return {
        "name": f"{first:%B %Y}",
        "before": _link(first - DAY),
        "after": _link(first + 32 * DAY),
        "weeks": [shown[n : n + 7] for n in range(0, len(shown), 7)],
        "counted_from": counted_from and counted_from.astimezone(zone),
    }


def _first(text: str, today: date) -> date:
    year, _, month = text.partition("-")
    digits = (year + month).isascii() and (year + month).isdigit() and len(text) <= 7
    last = today.year + YEARS_AHEAD
    if digits and year and month and 1971 <= int(year) <= last and 1 <= int(month) <= 12:
        return date(int(year), int(month), 1)
    return today.replace(day=1)


def _begin(day: date, zone: tzinfo) -> datetime:
    return moment_on_wall(datetime.combine(day, time()), zone)


def _link(day: date) -> str:
    return f"{day:%Y-%m}"


def _past(
    schedule: Schedule, begins: Sequence[datetime]
) -> tuple[list[Counter[str]], datetime | None]:
    """Count the runs of each day by outcome; also from when on, if there are too many."""
    runs = schedule.expected_runs.filter(slot_at__gte=begins[0], slot_at__lt=begins[-1])
    around = list(runs.values_list("slot_at", flat=True)[MOST_RUNS - 1 : MOST_RUNS + 1])
    counted_from = around[0] if len(around) == 2 else None
    if counted_from is not None:
        runs = runs.filter(slot_at__gte=counted_from)
    ends = [When(slot_at__lt=end, then=Value(day)) for day, end in enumerate(begins[1:])]
    of_day = runs.order_by().values_list(Case(*ends, output_field=IntegerField()), "state")
    counts: list[Counter[str]] = [Counter() for _ in begins[1:]]
    for day, state, number in of_day.annotate(Count("pk")):
        counts[day][state] = number
    return counts, counted_from


def _future(schedule: Schedule, rule: Rule, begins: Sequence[datetime], now: datetime) -> list[int]:
    """Count the runs that each day expects, as far as the schedule's number of runs goes."""
    after = now + MICROSECOND
    expected = [rule.count(max(begin, after), end) for begin, end in pairwise(begins)]
    if schedule.most_runs is None:
        return expected
    left = schedule.most_runs - schedule.runs - rule.count(after, begins[0])
    for day, number in enumerate(expected):
        expected[day] = max(0, min(number, left))
        left -= number
    return expected


def _day(day: date, counts: Counter[str], first: date, today: date) -> DayOfMonth:
    ordered = [(state, counts[state]) for state in ORDER if counts[state]]
    return DayOfMonth(day, day.month == first.month, day == today, ordered)
