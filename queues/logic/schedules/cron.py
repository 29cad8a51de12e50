"""Read cron texts: five fields with names, steps, L and #, or a word such as @daily."""

from dataclasses import dataclass

from queues.logic.schedules.days import LAST, MONTH_DAYS, WEEKDAYS, Days
from queues.logic.schedules.errors import BadRule, shown
from queues.logic.schedules.wall_clock import WallClock

LONGEST_TEXT = 200
WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
COMMON = "*, lists such as 1,2, ranges such as 1-5 and steps such as */2"


@dataclass(frozen=True)
class Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    also: str = ""

    def refusal(self, text: str, reason: str) -> BadRule:
        names = f" or {self.names[0]} to {self.names[-1]}" if self.names else ""
        return BadRule(
            f"the {self.name} field is {shown(text)}, and {reason}; it may contain numbers from "
            f"{self.low} to {self.high}{names}, {COMMON}{self.also}"
        )

    def number(self, text: str, whole: str) -> int:
        if text.lower() in self.names:
            return self.names.index(text.lower()) + (1 if self.low == 1 else 0)
        if not (text.isascii() and text.isdigit() and len(text) <= 4):
            why = f"{shown(text)} is not a number" if text else "a part is empty"
            raise self.refusal(whole, why)
        number = int(text)
        if not self.low <= number <= self.high:
            raise self.refusal(whole, f"{number} is out of range")
        return number

    def part(self, text: str, whole: str) -> range:
        """Read `*`, `3`, `1-5`, each with or without a step."""
        body, slash, step_text = text.partition("/")
        if body == "*":
            low, high = self.low, self.high if self.high != 7 else 6
        else:
            first, dash, last = body.partition("-")
            low = self.number(first, whole)
            high = self.number(last, whole) if dash else (self.high if slash else low)
            if dash and high == 0 and self.high == 7:
                high = 7  # a week may end with Sunday
        if high < low:
            raise self.refusal(whole, f"the range {shown(body)} goes down")
        return range(low, high + 1, self._step(step_text, whole) if slash else 1)

    def _step(self, text: str, whole: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 4) or int(text) == 0:
            raise self.refusal(whole, f"the step {shown(text)} is not a number from 1")
        return int(text)

    def numbers(self, text: str) -> frozenset[int]:
        return frozenset(n for part in text.split(",") for n in self.part(part, text))


MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
MONTH_DAY = Field("day-of-month", 1, 31, also=", and L for the last day")
MONTH = Field("month", 1, 12, MONTH_NAMES)
WEEKDAY = Field(
    "day-of-week",
    0,
    7,
    WEEKDAY_NAMES,
    also=", 5#2 for the second Friday and 5L for the last one",
)


def parse(text: str) -> WallClock:
    """Return the rule of a cron text, or raise BadRule with the field that is wrong."""
    fields = _fields(text)
    minutes, hours = MINUTE.numbers(fields[0]), HOUR.numbers(fields[1])
    in_week, nth = _weekdays(fields[4])
    days = Days(
        months=MONTH.numbers(fields[3]),
        in_month=_month_days(fields[2]),
        in_week=in_week,
        nth=nth,
        either=not fields[2].startswith("*") and not fields[4].startswith("*"),
    )
    return WallClock(days, tuple(sorted(60 * hour + each for hour in hours for each in minutes)))


def _fields(text: str) -> list[str]:
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise BadRule(f"a cron rule is a text of at most {LONGEST_TEXT} characters")
    fields = text.split()
    if len(fields) == 1 and fields[0].startswith("@"):
        if fields[0].lower() not in WORDS:
            known = ", ".join(WORDS)
            raise BadRule(f"{shown(fields[0])} is not a cron word; the words are {known}")
        return WORDS[fields[0].lower()].split()
    if len(fields) != 5:
        raise BadRule(
            f"a cron rule has 5 fields (minute, hour, day of month, month, day of week) or is a "
            f"word such as @daily; {shown(text)} has {len(fields)}"
        )
    return fields


def _month_days(text: str) -> frozenset[int]:
    if text == "*":
        return MONTH_DAYS
    parts = text.split(",")
    last = {LAST} if any(part in ("L", "l") for part in parts) else set()
    others = [part for part in parts if part not in ("L", "l")]
    return frozenset(last | {n for part in others for n in MONTH_DAY.part(part, text)})


def _weekdays(text: str) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    if text == "*":
        return WEEKDAYS, frozenset()
    plain: set[int] = set()
    nth: set[tuple[int, int]] = set()
    for part in text.split(","):
        if "#" in part or part[-1:] in ("L", "l"):
            nth.add(_nth(part, text))
        else:
            plain |= {_as_python(number) for number in WEEKDAY.part(part, text)}
    return frozenset(plain), frozenset(nth)


def _nth(part: str, whole: str) -> tuple[int, int]:
    weekday, hash_, place = part.partition("#")
    if not hash_:
        return _as_python(WEEKDAY.number(part[:-1], whole)), LAST
    if place not in ("1", "2", "3", "4", "5"):
        raise WEEKDAY.refusal(whole, f"{shown(place)} after # is not a number from 1 to 5")
    return _as_python(WEEKDAY.number(weekday, whole)), int(place)


def _as_python(number: int) -> int:
    """Return Sunday, 0 or 7 in cron, as 6."""
    return (number - 1) % 7
