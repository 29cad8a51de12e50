"""The page of one schedule: next runs, a month, and what was expected against what happened."""

import shlex
from calendar import Calendar
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import written
from atributo_site.permissions import may
from atributo_site.web.format import duration
from queues import schedules
from queues.errors import BadSchedule
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.policies import OVERLAP_SAID, Overlap
from queues.logic.schedules.words import rule_said
from queues.models import Schedule, ScheduledRun
from queues.queries.presenters import masked_by_schema
from queues.schedules.backfill import waiting
from queues.schedules.definition import rule_of
from queues.schedules.presenting import AHEAD, late_seconds, schema_of, upcoming

LAST_RUNS = 50
MOST_RUNS = 10_000
MOST_AHEAD = 3000
ORDER = ("failed", "missed", "aborted", "skipped", "complete", "pushed", "waiting", "expected")
DAY = timedelta(days=1)


class OneSchedule(Screen):
    actions = {"GET": "schedule.view"}
    template_name = "console/schedules/detail.html"
    is_shared = True

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        schedule, now = schedules.row(name), database_now()
        self.title = schedule.name
        runs = list(schedule.expected_runs.all()[:LAST_RUNS])
        return self.show(
            now=now,
            schedule=schedule,
            rule=rule_said(schedule.rule),
            policies=policies(schedule),
            data=masked_by_schema(schedule.data, schema_of(schedule)),
            runs=[line(run) for run in runs],
            month=month_of(schedule, request.GET.get("month", ""), now),
            backfill_waits=waiting(schedule),
            may_operate=may(request.user, "schedule.operate"),
            command=f"manage.py schedules show {shlex.quote(schedule.name)}",
            rest=curl(f"/api/v1/schedules/{quote(schedule.name, safe='')}"),
            **next_runs(schedule, now),
        )


def next_runs(schedule: Schedule, now: Any) -> dict[str, Any]:
    try:
        return {"ahead": upcoming(schedule, now, AHEAD)}
    except BadSchedule as error:  # its zone is gone
        return {"ahead": [], "trouble": str(error)}


def line(run: ScheduledRun) -> dict[str, Any]:
    late = late_seconds(run)
    return {
        "run": run,
        "job_id": None if run.job_id is None else str(run.job_id),
        "late": "" if late is None else f"late by {duration(late)}",
    }


def policies(schedule: Schedule) -> list[str]:
    """Say what the schedule does when something is not as usual."""
    overlap = OVERLAP_SAID[Overlap(schedule.overlap)]
    said = [
        f"If the earlier run is unfinished: {overlap}",
        f"After an outage: catch up on runs of the last {written(schedule.catch_up_ms)}",
        f"An incident if a run has not begun after {written(schedule.grace_ms)}",
    ]
    if schedule.jitter_ms:
        said.append(f"Each run begins up to {written(schedule.jitter_ms)} later")
    if schedule.pause_after_failures:
        said.append(f"Paused after {schedule.pause_after_failures} failures in a row")
    return said


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
