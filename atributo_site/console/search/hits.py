"""What a search finds: hits, in groups of one kind, the best first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

MOST_OF_A_KIND = 10


@dataclass(frozen=True)
class Asked:
    """What was typed, and who typed it: only an administrator finds users."""

    text: str
    user: Any

    @property
    def words(self) -> list[str]:
        return self.text.lower().split()


@dataclass(frozen=True)
class Hit:
    kind: str  # the name of its group
    name: str
    url: str
    detail: str = ""


@dataclass(frozen=True)
class Group:
    kind: str
    hits: list[Hit]


Finder = Callable[[Asked], Iterable[Hit]]


def grouped(hits: Iterable[Hit], text: str, most: int = MOST_OF_A_KIND) -> list[Group]:
    """Group hits by kind; a page is named once, and whole names come before parts of names."""
    by_url: dict[str, Hit] = {}
    for hit in hits:
        by_url.setdefault(hit.url, hit)
    kinds: dict[str, list[Hit]] = {}
    for hit in by_url.values():
        kinds.setdefault(hit.kind, []).append(hit)
    groups = [
        Group(kind, sorted(found, key=lambda hit: closeness(hit.name, text))[:most])
        for kind, found in kinds.items()
    ]
    return sorted(groups, key=lambda group: closeness(group.hits[0].name, text))


def closeness(name: str, text: str) -> int:
    """Return 0 for the whole name, 1 for its beginning, 2 for another part, 3 for none of it."""
    name, text = name.lower().lstrip("/"), text.lower().lstrip("/")
    if name == text:
        return 0
    if name.startswith(text):
        return 1
    return 2 if text in name else 3
