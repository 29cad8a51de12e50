"""Look at the rows of large tables piece by piece: at all of them, or at a sample.

A rule about a large table gets the rows of one piece at a time and reads them by one statement, so
that it sees one committed state and never needs more memory than for a piece.
"""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import Any

from django.db.models import Model, QuerySet

MOST = 20  # lines that a rule returns
PIECE = 1000
SETTLED_SECONDS = 10.0
PAUSE_SECONDS = 0.25
SURROGATES = range(0xD800, 0xE000)
Find = Callable[[QuerySet[Any]], list[str]]


class Everything:
    """All pieces of each table; `rows` counts what was looked at."""

    may_wait = True  # to see whether something lasts

    def __init__(self) -> None:
        self.rows = 0

    def pieces(self, rule: "InPieces") -> Iterator[QuerySet[Any]]:
        last = None
        while True:
            rows, last = self._after(rule, last)
            yield rows
            if last is None:
                return

    def _after(self, rule: "InPieces", key: Any) -> tuple[QuerySet[Any], Any]:
        """Return the piece behind a key, and its last key unless it is the last piece."""
        rows = rule.table._default_manager.order_by("pk")
        rows = rows if key is None else rows.filter(pk__gt=key)
        last = _key(rows, rule.size - 1)
        self.rows += rows.count() if last is None else rule.size
        return (rows if last is None else rows.filter(pk__lte=last)), last


class Sample(Everything):
    """The newest piece of each table and one more, which begins anywhere and moves on.

    Whoever keeps the sample and looks again and again sees every row in time.
    """

    may_wait = False

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[InPieces, Any] = {}

    def pieces(self, rule: "InPieces") -> Iterator[QuerySet[Any]]:
        rows = rule.table._default_manager.all()
        key = _key(rows.order_by("-pk"), rule.size)
        yield self._after(rule, key)[0]
        if key is None:
            return
        start = self.last[rule] if rule in self.last else _anywhere(rows)
        piece, self.last[rule] = self._after(rule, start)
        yield piece


@dataclass(frozen=True)
class InPieces:
    """A rule about a large table; `find` returns a line for each row of a piece that breaks it."""

    table: type[Model]
    find: Find
    size: int = PIECE

    def __call__(self, look: Everything | None = None) -> list[str]:
        broken: list[str] = []
        for rows in (look or Everything()).pieces(self):
            broken += self.find(rows)
            if len(broken) >= MOST:
                break
        return broken[:MOST]


@dataclass
class Lasting:
    """A rule that may be broken for a moment: only what two looks find so far apart counts."""

    find: Callable[[], list[str]]
    seconds: float = SETTLED_SECONDS
    since: dict[str, float] = field(default_factory=dict)

    def __call__(self, look: Everything | None = None) -> list[str]:
        broken, may_wait = self._look(), look is None or look.may_wait
        while may_wait and len(broken) < len(self.since):
            time.sleep(PAUSE_SECONDS)
            broken = self._look()
        return broken

    def _look(self) -> list[str]:
        now = time.monotonic()
        self.since = {line: self.since.get(line, now) for line in self.find()}
        return [line for line, since in self.since.items() if now - since >= self.seconds]


def seen_twice(find: Callable[[], list[str]]) -> Callable[[], list[str]]:
    """Look again at once: a rule of two statements may see two different moments."""

    def confirmed() -> list[str]:
        first = find()
        again = set(find()) if first else set()
        return [line for line in first if line in again]

    return confirmed


def _key(rows: QuerySet[Any], index: int) -> Any:
    return next(iter(rows.values_list("pk", flat=True)[index : index + 1]), None)


def _anywhere(rows: QuerySet[Any]) -> Any:
    """Return a random key from the first to the last, which need not be there."""
    first, last = _key(rows.order_by("pk"), 0), _key(rows.order_by("-pk"), 0)
    if not isinstance(first, str):
        return random.randint(first, last)  # noqa: S311 (nobody is to be surprised)
    start = commonprefix([first, last])
    low = ord(first[len(start)]) if len(first) > len(start) else 0x20
    high = ord(last[len(start)]) if len(last) > len(start) else low
    chosen = random.randint(low, max(low, high))  # noqa: S311
    return start if chosen in SURROGATES else start + chr(chosen)
