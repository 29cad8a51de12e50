"""A rule as it is stored: one kind of timing, a zone, a start and an end."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import islice, takewhile
from typing import Any

from queues.logic.schedules import cron, timings
from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.timings import Timing
from queues.logic.schedules.wall_clock import MICROSECOND
from queues.logic.schedules.zones import zone_named

KINDS = ("cron", "every", "calendar", "moments")
JUST_BEFORE = MICROSECOND
NEVER = "this rule never fires"


@dataclass(frozen=True)
class Rule:
    timing: Timing
    zone: tzinfo
    starts_at: datetime | None = None
    ends_at: datetime | None = None

    def next_after(self, after: datetime) -> datetime | None:
        """Return the next moment in UTC; the start and the end themselves may be one."""
        if self.starts_at is not None:
            after = max(after, self.starts_at - JUST_BEFORE)
        moment = self.timing.next_after(after, self.zone)
        if moment is None or (self.ends_at is not None and moment > self.ends_at):
            return None
        return moment

    def count(self, begin: datetime, end: datetime) -> int:
        """Return how often it fires from `begin` on, before `end`, without a look at each."""
        if self.starts_at is not None:
            begin = max(begin, self.starts_at)
        if self.ends_at is not None:
            end = min(end, self.ends_at + MICROSECOND)
        return self.timing.count(begin, end, self.zone)

    def newest(self, begin: datetime, end: datetime, most: int) -> list[datetime]:
        """Return up to so many of the last moments from `begin` on, before `end`."""
        while self.count(middle := begin + (end - begin) / 2, end) >= most:
            begin = middle
        moments = takewhile(lambda moment: moment < end, self.following(begin - JUST_BEFORE))
        return list(deque(moments, maxlen=most))

    def upcoming(self, after: datetime, most: int) -> list[datetime]:
        return list(islice(self.following(after), most))

    def following(self, after: datetime) -> Iterator[datetime]:
        moment = self.next_after(after)
        while moment is not None:
            yield moment
            moment = self.next_after(moment)


def read(
    given: Any,
    zone: str,
    *,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    anchor: datetime,
) -> Rule:
    """Return the rule that is written as {"cron": ...}, {"every": ...} and so on.

    An interval without an anchor counts from the start, or else from `anchor`.
    """
    found = zone_named(zone)
    if starts_at and ends_at and ends_at < starts_at:
        raise BadRule("the end is before the start")
    timing = _timing(given, found, starts_at or anchor)
    return Rule(timing, found, starts_at, ends_at)


def _timing(given: Any, zone: tzinfo, anchor: datetime) -> Timing:
    if not isinstance(given, Mapping):
        raise BadRule(f"a rule is an object with one of {', '.join(KINDS)}")
    kinds = [kind for kind in KINDS if kind in given]
    unknown = sorted(str(key) for key in given if key not in (*KINDS, "anchor"))
    if len(kinds) != 1 or unknown or ("anchor" in given and kinds != ["every"]):
        raise BadRule(
            f"a rule has exactly one of {', '.join(KINDS)}, and beside every an anchor; "
            f"not {', '.join([*kinds, *unknown]) or 'none of them'}"
        )
    [kind] = kinds
    if kind == "cron":
        return cron.parse(given["cron"])
    if kind == "every":
        return timings.interval(given["every"], given.get("anchor"), anchor)
    if kind == "calendar":
        return timings.calendar(given["calendar"])
    return timings.moments(given["moments"], zone)


def check_fires(rule: Rule, now: datetime) -> datetime:
    """Return the next moment, or raise BadRule if there is none."""
    moment = rule.next_after(now)
    if moment is not None:
        return moment
    ever = Rule(rule.timing, rule.zone).next_after(datetime(1970, 1, 1, tzinfo=UTC))
    if isinstance(rule.timing, timings.Moments) and ever is not None:
        raise BadRule("all moments of this rule are over, or outside of its start and end")
    if rule.ends_at is not None and Rule(rule.timing, rule.zone, rule.starts_at).next_after(now):
        raise BadRule(f"{NEVER} before its end, {rule.ends_at.isoformat()}")
    raise BadRule(f"{NEVER}: no day of any year fits, such as 30 February")
