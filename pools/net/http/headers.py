"""Headers of a message: names in any case, several values per name."""

import re
from collections.abc import Iterable, Iterator, Mapping

from pools.logic.errors import InvalidInput

TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
FORBIDDEN = re.compile(r"[\r\n\0]")
Pairs = Mapping[str, str] | Iterable[tuple[str, str]] | None


class Headers(Mapping[str, str]):
    """Several values of one name are joined by commas; `get_all` keeps them apart."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = list(pairs)

    def __getitem__(self, name: str) -> str:
        values = self.get_all(name)
        if not values:
            raise KeyError(name)
        return ", ".join(values)

    def get_all(self, name: str) -> list[str]:
        folded = name.lower()
        return [value for known, value in self._pairs if known.lower() == folded]

    def multi_items(self) -> list[tuple[str, str]]:
        return list(self._pairs)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for name, _ in self._pairs))

    def __len__(self) -> int:
        return len({name.lower() for name, _ in self._pairs})

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.get_all(name))

    def __repr__(self) -> str:
        return f"Headers({self._pairs!r})"


def pairs_of(headers: Pairs) -> list[tuple[str, str]]:
    """Return what is to be sent; refuse what would end a line or the head."""
    if headers is None:
        return []
    items = headers.items() if isinstance(headers, Mapping) else headers
    return [_checked(*pair) for pair in items]


def _checked(name: str | bytes, value: str | bytes | int) -> tuple[str, str]:
    name = name.decode("latin-1") if isinstance(name, bytes) else name
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    if not isinstance(name, str) or not TOKEN.match(name):
        raise InvalidInput(f"not the name of a header: {name!r}")
    if FORBIDDEN.search(text):
        raise InvalidInput(f"the header {name} has a line break in its value")
    if not _fits(text):
        raise InvalidInput(f"the header {name} has characters outside Latin-1: {text[:40]!r}")
    return name, text.strip(" \t")


def _fits(text: str) -> bool:
    return text.isascii() or all(ord(sign) < 256 for sign in text)
