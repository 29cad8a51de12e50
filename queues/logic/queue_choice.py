"""Which queues a worker serves, and in which order: names, patterns, weights, exceptions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

LONGEST_NAME = 255
MOST_PATTERNS = 1000
HEAVIEST = 1000
WILDCARDS = set("*?[")


@dataclass(frozen=True)
class QueueChoice:
    """Without patterns all queues are served, in turn. With weights the order is not strict."""

    patterns: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def is_everything(self) -> bool:
        return not self.patterns and not self.excluded

    @property
    def is_strict(self) -> bool:
        """Whether a queue that was named earlier always comes first."""
        return len(self.patterns) > 1 and not self.weights

    def place(self, queue: str) -> int | None:
        """Return the number of the first pattern that it fits; None if it is not served."""
        if any(fits(queue, pattern) for pattern in self.excluded):
            return None
        if not self.patterns:
            return 0
        places = (n for n, pattern in enumerate(self.patterns) if fits(queue, pattern))
        return next(places, None)

    def serves(self, queue: str) -> bool:
        return self.place(queue) is not None

    @property
    def names(self) -> list[str]:
        """Return the patterns that stand for one queue only."""
        return [pattern for pattern in self.patterns if not set(pattern) & WILDCARDS]

    def weight(self, place: int) -> int:
        return self.weights[place] if self.weights else 1

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Return it as JSON, for the row of the worker."""
        given: dict[str, Any] = {"queues": self.words, "exclude": list(self.excluded)}
        return {name: value for name, value in given.items() if value}

    @property
    def words(self) -> list[str]:
        """Return the patterns as one writes them."""
        if not self.weights:
            return list(self.patterns)
        return [f"{name}:{n}" for name, n in zip(self.patterns, self.weights, strict=True)]


def fits(queue: str, pattern: str) -> bool:
    """`*` stands for any characters and `?` for one; a name always fits itself."""
    return queue == pattern or fnmatchcase(queue, pattern)


def parsed(words: Sequence[str] = (), excluded: Sequence[str] = ()) -> QueueChoice:
    """Read `mail-*`, `critical:3`; ValueError names what was wrong."""
    pairs = [_pattern_and_weight(word) for word in words]
    names = [_checked(name) for name, _ in pairs]
    if len(names) + len(excluded) > MOST_PATTERNS:
        raise ValueError(f"more than {MOST_PATTERNS} queues are named")
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ValueError(f"the queue {doubled[0]!r} is named twice")
    has_weights = any(weight for _, weight in pairs)
    weights = tuple(weight or 1 for _, weight in pairs) if has_weights else ()
    return QueueChoice(tuple(names), weights, tuple(map(_checked, excluded)))


def from_facts(facts: dict[str, Any]) -> QueueChoice:
    """Read what a worker's row says; rows of earlier versions say nothing: all queues."""
    return parsed(facts.get("queues", ()), facts.get("exclude", ()))


def _pattern_and_weight(word: str) -> tuple[str, int | None]:
    name, colon, number = word.rpartition(":")
    if not colon or not (number.isascii() and number.isdigit()):
        return word, None
    if not 1 <= len(number) <= 4 or not 1 <= int(number) <= HEAVIEST:
        raise ValueError(f"the weight of {name!r} is {number}, not a number from 1 to {HEAVIEST}")
    return name, int(number)


def _checked(name: str) -> str:
    if not name or len(name) > LONGEST_NAME or "\x00" in name:
        raise ValueError(f"{name[:40]!r} is not a queue's name: 1 to {LONGEST_NAME} characters")
    return name
