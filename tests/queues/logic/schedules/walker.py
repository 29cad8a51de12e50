"""A slow and simple answer to "when does this rule fire": look at every minute."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

MINUTE = timedelta(minutes=1)
NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


@dataclass(frozen=True)
class Drawn:
    """A cron rule as sets of numbers; None is a star."""

    minutes: tuple
    hours: tuple | None
    days: tuple | None
    last_day: bool
    months: tuple | None
    weekdays: tuple | None
    nth: tuple | None  # (weekday, place)

    def text(self):
        days = [*(self.days or []), *(["L"] if self.last_day else [])]
        weekdays = [NAMES[each] for each in self.weekdays or []]
        weekdays += [f"{self.nth[0]}#{self.nth[1]}"] if self.nth else []
        fields = [self.minutes, self.hours, days, self.months, weekdays]
        return " ".join(",".join(map(str, each)) if each else "*" for each in fields)

    def matches(self, local):
        if local.second or local.minute not in self.minutes:
            return False
        if self.hours is not None and local.hour not in self.hours:
            return False
        if self.months is not None and local.month not in self.months:
            return False
        return self._matches_day(local)

    def _matches_day(self, local):
        weekday = (local.weekday() + 1) % 7
        is_last = local.day == monthrange(local.year, local.month)[1]
        by_day = local.day in (self.days or ()) or (self.last_day and is_last)
        by_week = weekday in (self.weekdays or ())
        by_week |= bool(self.nth) and self.nth == (weekday, (local.day - 1) // 7 + 1)
        asked = [
            answer
            for answer, is_asked in (
                (by_day, self.days or self.last_day),
                (by_week, self.weekdays or self.nth),
            )
            if is_asked
        ]
        return any(asked) if asked else True

    def every_hour(self):
        return self.hours is None or len(self.hours) == 24


def some(low, high, most=4):
    numbers = st.lists(st.integers(low, high), min_size=1, max_size=most, unique=True)
    return numbers.map(lambda each: tuple(sorted(each)))


drawn_rules = st.builds(
    Drawn,
    minutes=st.one_of(some(0, 59), st.just(tuple(range(0, 60, 15)))),
    hours=st.one_of(st.none(), some(0, 4), some(0, 23)),
    days=st.one_of(st.none(), st.none(), some(1, 31)),
    last_day=st.sampled_from([False, False, False, True]),
    months=st.one_of(st.none(), st.none(), st.none(), some(1, 12)),
    weekdays=st.one_of(st.none(), st.none(), some(0, 6)),
    nth=st.one_of(st.none(), st.none(), st.none(), st.tuples(st.integers(0, 6), st.integers(1, 5))),
)


class Walk:
    """Every half minute of a span with its time on the wall, and the times that are jumped over."""

    def __init__(self, zone, begin, end):
        self.seen = []  # (moment, local, fold, missing locals)
        step = timedelta(seconds=30)
        before = (begin - step).astimezone(zone).replace(tzinfo=None)
        while begin <= end:
            local = begin.astimezone(zone)
            naive = local.replace(tzinfo=None, fold=0)
            missing = []
            expected = before + step
            while expected < naive:
                missing.append(expected)
                expected += step
            if naive.second == 0 or missing:
                self.seen.append((begin, naive, local.fold, missing))
            before = naive
            begin += step

    def fires(self, rule):
        """Return the moments at which the rule fires, by the documented rule."""
        if rule.every_hour():
            return [at for at, local, _, _ in self.seen if rule.matches(local)]
        return [
            at
            for at, local, fold, missing in self.seen
            if (not fold and rule.matches(local)) or any(map(rule.matches, missing))
        ]


def transitions(zone, first, last):
    """Return the moments at which the offset changes, to the half minute."""
    found, step = [], timedelta(hours=6)
    while first < last:
        if offset(first, zone) != offset(first + step, zone):
            found.append(_narrowed(zone, first, first + step))
        first += step
    return found


def _narrowed(zone, low, high):
    start = offset(low, zone)
    while high - low > timedelta(seconds=1):
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (middle, high) if offset(middle, zone) == start else (low, middle)
    return high


def offset(moment, zone):
    return moment.astimezone(zone).utcoffset()


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)
