"""Rules by the wall clock of a time zone, with one answer to missing and doubled times.

A rule that fires in every hour of the day goes by elapsed time: when clocks go forward, the missing
times are left out, and when they go back, the doubled ones run twice. Any other rule fires once for
each time on the wall: a missing time when the gap ends, a doubled one at its first occurrence.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from functools import cached_property, lru_cache

from queues.logic.schedules.days import DAY, Days

MICROSECOND = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
LONGEST_SHIFT = timedelta(hours=26)  # a zone may move across the date line
BETWEEN_SHIFTS = timedelta(hours=6)  # at least; no zone moves its clocks to and fro in one day
NOTHING = timedelta()


class Shift(StrEnum):
    """What happens to a time on the wall in the night when clocks change."""

    MISSING = "missing"
    DOUBLED = "doubled"


@dataclass(frozen=True)
class WallClock:
    days: Days
    minutes: tuple[int, ...]  # of the day, in order

    @cached_property
    def by_elapsed_time(self) -> bool:
        """Return whether it fires in every hour of the day."""
        return len({minute // 60 for minute in self.minutes}) == 24

    def next_after(self, after: datetime, zone: tzinfo) -> datetime | None:
        """Return the first moment after `after`, in UTC; None if there is none for decades."""
        local = after.astimezone(zone).replace(tzinfo=None)
        ahead = self._first(self._beyond(local), after, zone)
        if not self.by_elapsed_time:
            return ahead
        back = _offset(after, zone) - _offset(after + LONGEST_SHIFT, zone)
        if back <= NOTHING:
            return ahead
        again = self._first(self.between(local - back, local + MINUTE), after, zone)
        return min(each for each in (ahead, again) if each) if ahead or again else None

    def count(self, begin: datetime, end: datetime, zone: tzinfo) -> int:
        """Return how often it fires from `begin` on, before `end`.

        Days without a clock change are counted by arithmetic, the others by a walk.
        """
        step = DAY if end - begin > DAY else HOUR
        total = 0
        while begin < end:
            until = min(begin + step, end)
            total += self._count(begin, until, zone)
            begin = until
        return total

    def _count(self, begin: datetime, end: datetime, zone: tzinfo) -> int:
        if _is_steady(begin, end, zone):
            local = begin.astimezone(zone).replace(tzinfo=None)
            return self._on_wall(local, local + (end - begin))
        if end - begin > HOUR:
            return self.count(begin, end, zone)
        count, moment = 0, self.next_after(begin - MICROSECOND, zone)
        while moment is not None and moment < end:
            count, moment = count + 1, self.next_after(moment, zone)
        return count

    def _on_wall(self, low: datetime, high: datetime) -> int:
        """Count the times on the wall from `low` on, before `high`."""
        total, day = 0, low.date()
        while day <= high.date():
            if self.days.match(day):
                first = self._before(low) if day == low.date() else 0
                last = self._before(high) if day == high.date() else len(self.minutes)
                total += last - first
            day += DAY
        return total

    def _before(self, local: datetime) -> int:
        """Return how many times of this day are before this one."""
        minute = local.hour * 60 + local.minute
        is_whole = not local.second and not local.microsecond
        return (bisect_left if is_whole else bisect_right)(self.minutes, minute)

    def _first(self, locals_: Iterator[datetime], after: datetime, zone: tzinfo) -> datetime | None:
        for local in locals_:
            later = [each for each in self.moments_of(local, zone) if each > after]
            if later:
                return later[0]
        return None

    def moments_of(self, local: datetime, zone: tzinfo) -> list[datetime]:
        """Return when the rule fires for one time on the wall, in UTC."""
        first, second = occurrences(local, zone)
        if first == second:
            return [first]
        if self.by_elapsed_time:
            return [first, second] if first < second else []
        return [first if first < second else end_of_gap(local, zone)]

    def _beyond(self, local: datetime) -> Iterator[datetime]:
        """Yield the times on the wall after this one."""
        for day in self.days.beginning_at(local.date()):
            begin = 0
            if day == local.date():
                begin = bisect_right(self.minutes, local.hour * 60 + local.minute)
            for minute in self.minutes[begin:]:
                yield _at(day, minute)

    def between(self, low: datetime, high: datetime) -> Iterator[datetime]:
        """Yield the times on the wall from `low` on, before `high`."""
        day = low.date()
        while day <= high.date():
            if self.days.match(day):
                times = (_at(day, minute) for minute in self.minutes)
                yield from (each for each in times if low <= each < high)
            day += DAY


def occurrences(local: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return both readings of a time on the wall: equal, in order if doubled, else missing."""
    early, late = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return early.astimezone(UTC), late.astimezone(UTC)


def shift_of(local: datetime, zone: tzinfo) -> Shift | None:
    first, second = occurrences(local, zone)
    if first == second:
        return None
    return Shift.DOUBLED if first < second else Shift.MISSING


def moment_on_wall(local: datetime, zone: tzinfo) -> datetime:
    """Return the moment of a single time on the wall: the end of the gap, or the first of two."""
    first, second = occurrences(local, zone)
    return first if first <= second else end_of_gap(local, zone)


@lru_cache(maxsize=4096)
def end_of_gap(local: datetime, zone: tzinfo) -> datetime:
    """Return the moment at which clocks jump over this time."""
    after, before = occurrences(local, zone)
    offset = _offset(after, zone)
    while after - before > SECOND:
        middle = before + (after - before) // 2
        if _offset(middle, zone) == offset:
            after = middle
        else:
            before = middle
    return after.replace(microsecond=0) if after.microsecond == 0 else _whole(after, offset, zone)


def _whole(moment: datetime, offset: timedelta, zone: tzinfo) -> datetime:
    """Return the whole second at which the new offset begins."""
    floor = moment.replace(microsecond=0)
    return floor if _offset(floor, zone) == offset else floor + SECOND


def _is_steady(begin: datetime, end: datetime, zone: tzinfo) -> bool:
    """Return whether no clock change is so near that it moves or doubles a time of this span."""
    offset, moment = _offset(end, zone), begin - LONGEST_SHIFT
    while moment < end:
        if _offset(moment, zone) != offset:
            return False
        moment += BETWEEN_SHIFTS
    return True


def _offset(moment: datetime, zone: tzinfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or NOTHING


def _at(day: date, minute: int) -> datetime:
    return datetime.combine(day, time(minute // 60, minute % 60))
