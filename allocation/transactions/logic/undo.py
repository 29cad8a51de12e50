"""Plan how a transaction is undone: which image each key gets back, if any."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Image:
    """A key at one moment. `present` says whether it existed; the value alone cannot."""

    present: bool
    value: Any
    ref: str


@dataclass(frozen=True)
class Write:
    """One line of the journal: what was there before, and the ref that the write left."""

    key: Any
    before: Image
    after_ref: str
    line: int = 0


@dataclass(frozen=True)
class Restore:
    """Give a key its image back, provided that it still carries this ref.

    `line` has the image, `lines` are all that the key has.
    """

    key: Any
    image: Image
    expected_ref: str
    line: int = 0
    lines: tuple[int, ...] = ()


def plan(journal: Iterable[Write]) -> list[Restore]:
    """Return one restore per key, starting with the key that was written last."""
    first: dict[Any, Write] = {}
    last: dict[Any, Write] = {}
    lines: dict[Any, list[int]] = {}
    for write in journal:
        lines.setdefault(write.key, []).append(write.line)
        if not _continues(last.pop(write.key, None), write):
            first[write.key] = write
        last[write.key] = write
    return [
        Restore(key, first[key].before, write.after_ref, first[key].line, tuple(lines[key]))
        for key, write in reversed(last.items())
    ]


def _continues(previous: Write | None, write: Write) -> bool:
    """Return False for the first write, and if somebody else wrote in between, which is kept."""
    return previous is not None and previous.after_ref == write.before.ref
