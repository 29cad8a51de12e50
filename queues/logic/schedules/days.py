"""The days on which a rule by the wall clock fires."""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta

DAY = timedelta(days=1)
MONTHS = frozenset(range(1, 13))
MONTH_DAYS = frozenset(range(1, 32))
WEEKDAYS = frozenset(range(7))  # Monday is 0, as in Python
LAST = -1
YEARS_AHEAD = 41  # 29 February on a given weekday comes at least every 40 years


@dataclass(frozen=True)
class Days:
    """Months, and days by their number or by their weekday.

    `in_month` are days of the month, `in_week` weekdays, `nth` pairs of a weekday and its place in
    the month; LAST may be a day and a place.
    """

    months: frozenset[int] = MONTHS
    in_month: frozenset[int] = MONTH_DAYS
    in_week: frozenset[int] = WEEKDAYS
    nth: frozenset[tuple[int, int]] = frozenset()
    either: bool = False  # one of `in_month` and `in_week` is enough

    def match(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_month, by_week = self._by_month(day), self._by_week(day)
        return (by_month or by_week) if self.either else (by_month and by_week)

    def beginning_at(self, day: date) -> Iterator[date]:
        """Yield matching days in order, as far as a rule may look ahead."""
        last_year = min(day.year + YEARS_AHEAD, MAXYEAR - 1)
        while day.year <= last_year:
            if day.month not in self.months:
                day = (day.replace(day=1) + 31 * DAY).replace(day=1)
                continue
            if self.match(day):
                yield day
            day += DAY

    def _by_month(self, day: date) -> bool:
        if day.day in self.in_month:
            return True
        return LAST in self.in_month and day.day == _length(day)

    def _by_week(self, day: date) -> bool:
        weekday = day.weekday()
        if weekday in self.in_week:
            return True
        if not self.nth:
            return False
        is_last = day.day + 7 > _length(day)
        place = (day.day + 6) // 7
        return (weekday, place) in self.nth or (is_last and (weekday, LAST) in self.nth)


def _length(day: date) -> int:
    return monthrange(day.year, day.month)[1]
