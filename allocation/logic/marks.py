"""Marks: up to where a reader knows the events, as text that a client hands back.

SQLite writes in the order of ids, so its mark is the last id: `i42`. PostgreSQL's ids are not
in the order of commits, so its mark is the whole snapshot of the reading: `s10:20:12,15` says
that every transaction below 20 has been read except 12 and 15, which were still open.

Both numbers mean something in one database only. So a mark says where they come from, before
the snapshot or behind the id: `s7709296587285868736.10:20:` by the cluster that counts the
transactions, `i42.1790000000000000` by the moment of event 42, in microseconds.
"""

import re
from dataclasses import dataclass

ID = re.compile(r"i(?P<seen>\d{1,18})(?:\.(?P<origin>[1-9]\d{0,18}))?", re.ASCII)
SNAPSHOT = re.compile(
    r"s(?:(?P<origin>-?[1-9]\d{0,18})\.)?(?P<seen>\d{1,18}:\d{1,18}:(?:\d{1,18}(?:,\d{1,18})*)?)",
    re.ASCII,
)
LONGEST = 8000  # characters


@dataclass(frozen=True)
class Mark:
    """`seen` is read. Within `reading`, what comes up to `after` is read as well."""

    seen: str
    reading: str = ""
    after: tuple[int, int] = (0, 0)
    origin: int = 0  # not known

    def __str__(self) -> str:
        """Where to go on from; within a reading that is its start, so nothing is left out."""
        if ":" in self.seen:
            return f"s{self.origin}.{self.seen}" if self.origin else f"s{self.seen}"
        return f"i{self.seen}.{self.origin}" if self.origin else f"i{self.seen}"


def parsed(text: str) -> Mark | None:
    """None for text that is no mark."""
    if len(text) > LONGEST:
        return None
    found = ID.fullmatch(text) or SNAPSHOT.fullmatch(text)
    if found is None or not _is_ordered(found["seen"]):
        return None
    return Mark(found["seen"], origin=int(found["origin"] or 0))


def oldest_open(snapshot: str) -> int:
    """Every transaction with a smaller number is over."""
    return int(snapshot.partition(":")[0])


def is_of_the_past(mark: Mark, newest: Mark) -> bool:
    """False for a mark of the other database, or one from before a restored backup."""
    if (":" in mark.seen) != (":" in newest.seen):
        return False
    return _end(mark.seen) <= _end(newest.seen)


def _end(seen: str) -> int:
    return int(seen.split(":")[1] if ":" in seen else seen)


def _is_ordered(seen: str) -> bool:
    """PostgreSQL refuses a snapshot whose open transactions are not inside it, in order."""
    if ":" not in seen:
        return True
    start, end, listed = seen.split(":")
    open_ones = [int(number) for number in listed.split(",") if number]
    inside = all(int(start) <= number < int(end) for number in open_ones)
    return 0 < int(start) <= int(end) and inside and open_ones == sorted(set(open_ones))
