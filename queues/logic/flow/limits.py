"""Limits: how many jobs run at once, and how many start in a span of time.

A rate is a bucket of `burst` tokens, kept as one number: the moment at which the bucket would be
full again. A start is allowed as soon as a token is there, and never before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PER = ("key", "queue", "script", "instance")
SPANS_MS = {
    **dict.fromkeys(("s", "sec", "second"), 1_000),
    **dict.fromkeys(("min", "minute"), 60_000),
    **dict.fromkeys(("h", "hour"), 3_600_000),
    **dict.fromkeys(("d", "day"), 86_400_000),
}
MOST = 1_000_000
MOST_LIMITS = 20
MOST_WEIGHTS = 1_000
LARGEST_WEIGHT = 1_000
LONGEST_KEY = 255
EXAMPLE = 'such as {"per": "key", "at_once": 2} or {"per": "queue", "rate": "100/min", "burst": 20}'


class BadLimit(ValueError):
    """A limit that cannot mean anything; the text says why."""


@dataclass(frozen=True, slots=True)
class Limit:
    per: str
    at_once: int | None = None
    rate: str = ""
    interval_us: int = 0  # between two starts, once the bucket is empty
    burst: int = 1

    def as_dict(self) -> dict[str, Any]:
        if self.at_once is not None:
            return {"per": self.per, "at_once": self.at_once}
        return {"per": self.per, "rate": self.rate, "burst": self.burst}

    def said(self) -> str:
        """Return it in words, as screens name what a job waits for."""
        if self.at_once is not None:
            return f"{self.at_once} at once per {self.per}"
        return f"{self.rate} per {self.per}"

    def opens_at(self, full_at: int) -> int:
        """Return when the next start is allowed, in microseconds."""
        return full_at - (self.burst - 1) * self.interval_us

    def after_start(self, full_at: int, now: int) -> int:
        """Return when the bucket is full again after a start now."""
        return max(full_at, now) + self.interval_us


def parsed(value: Any) -> tuple[Limit, ...]:
    """Read a list of limits; BadLimit says what is wrong with the first that is."""
    if value is None:
        return ()
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise BadLimit(f"limits must be a list of limits, {EXAMPLE}")
    if len(value) > MOST_LIMITS:
        raise BadLimit(f"there are at most {MOST_LIMITS} limits")
    return tuple(_limit(each) for each in value)


def _limit(value: Any) -> Limit:
    if not isinstance(value, Mapping):
        raise BadLimit(f"a limit is an object {EXAMPLE}")
    unknown = sorted(str(name) for name in set(value) - {"per", "at_once", "rate", "burst"})
    if unknown:
        raise BadLimit(f"a limit has per, at_once, rate and burst, not {', '.join(unknown)}")
    per = value.get("per")
    if per not in PER:
        raise BadLimit(f"a limit's per must be one of {', '.join(PER)}, not {per!r}")
    if ("at_once" in value) == ("rate" in value):
        raise BadLimit("a limit has either at_once or a rate")
    if "at_once" not in value:
        return _of_rate(per, value["rate"], value.get("burst", 1))
    if "burst" in value:
        raise BadLimit("burst belongs to a rate")
    return Limit(per, at_once=_whole("at_once", value["at_once"]))


def _of_rate(per: str, rate: Any, burst: Any) -> Limit:
    number, slash, span = rate.partition("/") if isinstance(rate, str) else ("", "", "")
    is_number = number.isascii() and number.isdigit() and len(number) <= len(str(MOST))
    if not slash or not is_number or span not in SPANS_MS:
        raise BadLimit(f"a rate is a number of starts in a span, such as 100/min, not {rate!r}")
    count = int(number)
    if not 1 <= count <= MOST:
        raise BadLimit(f"a rate allows from 1 to {MOST} starts in its span, not {number}")
    interval_us = -(-SPANS_MS[span] * 1000 // count)  # rounded up: never more than the rate
    return Limit(per, rate=rate, interval_us=interval_us, burst=_whole("burst", burst))


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise BadLimit(f"{name} must be a whole number from 1 to {MOST}, not {value!r}")
    return value


def stored(limits: Sequence[Limit]) -> list[dict[str, Any]] | None:
    """Return limits as a row keeps them; None for none."""
    return [limit.as_dict() for limit in limits] or None


def weights(value: Any) -> dict[str, int]:
    """Read how many times the share of others the flow keys of a queue get."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MOST_WEIGHTS:
        raise BadLimit(f"weights is an object of at most {MOST_WEIGHTS} flow keys and numbers")
    for key, weight in value.items():
        is_whole = isinstance(weight, int) and not isinstance(weight, bool)
        if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
            raise BadLimit(f"a flow key has 1 to {LONGEST_KEY} characters")
        if not is_whole or not 1 <= weight <= LARGEST_WEIGHT:
            raise BadLimit(f"a weight is a whole number from 1 to {LARGEST_WEIGHT}, not {weight}")
    return dict(value)
