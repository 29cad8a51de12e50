"""Rules that need no cron: every so often, on days of a calendar, at listed moments."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from queues.logic.schedules.cron import WEEKDAY_NAMES
from queues.logic.schedules.days import LAST, MONTH_DAYS, WEEKDAYS, Days
from queues.logic.schedules.errors import BadRule, shown
from queues.logic.schedules.wall_clock import WallClock, moment_on_wall

SHORTEST_MS = 1000
LONGEST_MS = 100 * 365 * 86_400_000
MOST_MOMENTS = 1000
MOST_TIMES = 100
MILLISECOND = timedelta(milliseconds=1)
WEEKDAY_OF = {name: (number - 1) % 7 for number, name in enumerate(WEEKDAY_NAMES)}
PARTS = ("weekdays", "days", "times")


@dataclass(frozen=True)
class Interval:
    """Every so many milliseconds, counted from an anchor by elapsed time."""

    every_ms: int
    anchor: datetime

    def next_after(self, after: datetime, zone: tzinfo) -> datetime:
        if after < self.anchor:
            return self.anchor
        step = self.every_ms * MILLISECOND
        return self.anchor + ((after - self.anchor) // step + 1) * step

    def count(self, begin: datetime, end: datetime, zone: tzinfo) -> int:
        """Return how often it fires from `begin` on, before `end`."""
        step = self.every_ms * MILLISECOND
        before = [-((self.anchor - max(at, self.anchor)) // step) for at in (begin, end)]
        return max(0, before[1] - before[0])


@dataclass(frozen=True)
class Moments:
    """Listed moments in order, each once."""

    moments: tuple[datetime, ...]

    def next_after(self, after: datetime, zone: tzinfo) -> datetime | None:
        place = bisect_right(self.moments, after)
        return self.moments[place] if place < len(self.moments) else None

    def count(self, begin: datetime, end: datetime, zone: tzinfo) -> int:
        """Return how many of them there are from `begin` on, before `end`."""
        return max(0, bisect_left(self.moments, end) - bisect_left(self.moments, begin))


Timing = WallClock | Interval | Moments


def interval(every_ms: Any, anchor: Any, otherwise: datetime) -> Interval:
    if isinstance(every_ms, bool) or not isinstance(every_ms, int):
        raise BadRule(f"every must be a span such as 90m, or milliseconds, not {shown(every_ms)}")
    if not SHORTEST_MS <= every_ms <= LONGEST_MS:
        raise BadRule(f"every must be from 1 second to 100 years, not {every_ms} ms")
    return Interval(every_ms, moment("anchor", anchor, UTC) if anchor else otherwise)


def moments(given: Any, zone: tzinfo) -> Moments:
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_MOMENTS:
        raise BadRule(f"moments must be a list of 1 to {MOST_MOMENTS} times")
    return Moments(tuple(sorted({moment("moments", each, zone) for each in given})))


def calendar(given: Any) -> WallClock:
    """Read weekdays, days of the month and times of the day."""
    if not isinstance(given, Mapping) or not set(given) <= set(PARTS):
        raise BadRule(f"calendar must be an object with {', '.join(PARTS)}")
    weekdays = frozenset(_weekday(each) for each in _listed(given, "weekdays"))
    days = frozenset(_day(each) for each in _listed(given, "days"))
    times = {_minute(each) for each in _listed(given, "times")}
    if not times:
        raise BadRule("a calendar needs times, such as 09:00")
    chosen = Days(
        in_month=days or MONTH_DAYS,
        in_week=weekdays or WEEKDAYS,
        either=bool(days and weekdays),
    )
    return WallClock(chosen, tuple(sorted(times)))


def moment(name: str, given: Any, zone: tzinfo) -> datetime:
    """Read a moment; one without an offset is a time on the wall of the zone."""
    try:
        at = given if isinstance(given, datetime) else datetime.fromisoformat(str(given)[:40])
        if at.tzinfo is None:
            at = moment_on_wall(at, zone)
        at = at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadRule(
            f"{name}: {shown(given)} is not a time; write it like 2030-01-31T12:00"
        ) from error
    if not 1970 <= at.year <= 9000:
        raise BadRule(f"{name} must be from 1970 to 9000, not {shown(given)}")
    return at


def _listed(given: Mapping[str, Any], name: str) -> list[Any]:
    value = given.get(name) or []
    if not isinstance(value, list) or len(value) > MOST_TIMES:
        raise BadRule(f"calendar: {name} must be a list of at most {MOST_TIMES}")
    return value


def _weekday(given: Any) -> int:
    short = str(given)[:3].lower()
    if short not in WEEKDAY_OF:
        raise BadRule(f"calendar: {shown(given)} is not a day of the week; write mon to sun")
    return WEEKDAY_OF[short]


def _day(given: Any) -> int:
    if given == "last":
        return LAST
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 31:
        raise BadRule(f"calendar: {shown(given)} is not a day of the month; write 1 to 31 or last")
    return given


def _minute(given: Any) -> int:
    hour, _, minute = str(given)[:10].partition(":")
    digits = hour.isascii() and hour.isdigit() and minute.isascii() and minute.isdigit()
    if not digits or len(minute) != 2 or not (int(hour) <= 23 and int(minute) <= 59):
        raise BadRule(f"calendar: {shown(given)} is not a time of day; write it like 09:30")
    return 60 * int(hour) + int(minute)
