"""A month of one schedule as weeks of days: past runs by outcome, and those to come."""

from calendar import Calendar
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from queues.logic.schedules.errors import BadRule
from queues.models import Schedule
from queues.schedules.definition import rule_of

MOST_RUNS = 10_000
MOST_AHEAD = 3000
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
    first = _first(text, now.astimezone(zone).date())
    weeks = Calendar().monthdatescalendar(first.year, first.month)
    begin, end = (datetime(d.year, d.month, d.day, tzinfo=zone) for d in _ends(weeks))
    counts = _past(schedule, begin, end, zone)
    if rule is not None and schedule.state == "active":
        _add_future(counts, rule, max(begin, now), end)
    today = now.astimezone(zone).date()
    return {
        "name": f"{first:%B %Y}",
        "before": _link(first - DAY),
        "after": _link(first + 32 * DAY),
        "weeks": [[_day(d, first, today, counts[d]) for d in week] for week in weeks],
    }


def _first(text: str, today: date) -> date:
    year, _, month = text.partition("-")
    digits = (year + month).isascii() and (year + month).isdigit() and len(text) <= 7
    if digits and year and month and 1971 <= int(year) <= 8999 and 1 <= int(month) <= 12:
        return date(int(year), int(month), 1)
    return today.replace(day=1)


def _link(day: date) -> str:
    return f"{day:%Y-%m}"


def _ends(weeks: list[list[date]]) -> tuple[date, date]:
    return weeks[0][0], weeks[-1][-1] + DAY


def _past(
    schedule: Schedule, begin: datetime, end: datetime, zone: tzinfo
) -> dict[date, Counter[str]]:
    counts: dict[date, Counter[str]] = defaultdict(Counter)
    runs = schedule.expected_runs.filter(slot_at__gte=begin, slot_at__lt=end)
    for slot_at, state in runs.values_list("slot_at", "state")[:MOST_RUNS]:
        counts[slot_at.astimezone(zone).date()][state] += 1
    return counts


def _add_future(
    counts: dict[date, Counter[str]], rule: Any, begin: datetime, end: datetime
) -> None:
    for number, moment in enumerate(rule.following(begin)):
        if moment >= end or number >= MOST_AHEAD:
            break
        counts[moment.astimezone(rule.zone).date()]["expected"] += 1


def _day(day: date, first: date, today: date, counts: Counter[str]) -> DayOfMonth:
    ordered = [(state, counts[state]) for state in ORDER if counts[state]]
    return DayOfMonth(day, day.month == first.month, day == today, ordered)
