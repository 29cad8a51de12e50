"""A regular expression as a tree: the part of the language that can be matched in linear time."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

DEEPEST = 50
LARGEST_COUNT = 1000
EDGES = {"^": "begin", r"\A": "begin", "$": "end", r"\Z": "end", r"\b": "word", r"\B": "inside"}
EDGE = re.compile(r"[\^$]|\\[AZbB]")
# One character: an escape, a class in brackets, or the character itself.
ONE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^0-9xuUN])"
    r"|\[\^?\]?(?:[^\]\\]|\\.)*\]|[^\\\[]",
    re.DOTALL,
)
GROUP = re.compile(r"\((?:\?(?::|P<\w+>)|(?!\?))")
COUNT = re.compile(r"(?:([*+?])|\{(?!\})(\d*)(?:(,)(\d*))?\})\??(\+?)", re.ASCII)
SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class BadPattern(ValueError):
    """The text says why the pattern is refused."""


@dataclass(frozen=True)
class One:
    """One character, if `fits` says so."""

    fits: Callable[[str], object]


@dataclass(frozen=True)
class Edge:
    kind: str  # begin, end, word, inside


@dataclass(frozen=True)
class Row:
    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Either:
    ways: tuple["Node", ...]


@dataclass(frozen=True)
class Repeat:
    """`most` is None where there is no end."""

    part: "Node"
    least: int
    most: int | None


Node = One | Edge | Row | Either | Repeat


def parsed(text: str) -> Node:
    """Parse a pattern; BadPattern for what is none, looks around, refers back, or sets flags."""
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"{text!r} is not a regular expression: {error}") from error
    return _Reader(text).either(0)


class _Reader:
    """The text is known to be well formed, so that every parenthesis is closed."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def either(self, depth: int) -> Node:
        ways = [self._row(depth)]
        while self._text.startswith("|", self._at):
            self._at += 1
            ways.append(self._row(depth))
        return ways[0] if len(ways) == 1 else Either(tuple(ways))

    def _row(self, depth: int) -> Node:
        parts: list[Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._part(depth)))
        return Row(tuple(parts))

    def _part(self, depth: int) -> Node:
        if self._text[self._at] == "(":
            return self._group(depth)
        if edge := EDGE.match(self._text, self._at):
            self._at = edge.end()
            return Edge(EDGES[edge[0]])
        one = ONE.match(self._text, self._at)
        if one is None:
            self._refuse("refers back or names a character by its number")
        self._at = one.end()
        return One(re.compile(one[0]).fullmatch)

    def _group(self, depth: int) -> Node:
        begin = GROUP.match(self._text, self._at)
        if begin is None:
            self._refuse("looks around, refers back or sets flags")
        if depth == DEEPEST:
            self._refuse(f"has more than {DEEPEST} parentheses within each other")
        self._at = begin.end()
        inner = self.either(depth + 1)
        self._at += 1
        return inner

    def _repeated(self, part: Node) -> Node:
        count = COUNT.match(self._text, self._at)
        if count is None:
            return part
        sign, least, comma, most, keeps = count.groups()
        if keeps:
            self._refuse("has a repetition that gives nothing back")
        self._at = count.end()
        if sign:
            return Repeat(part, *SIGNS[sign])
        low = int(least or 0)
        high = (int(most) if most else None) if comma else low
        if max(low, high or 0) > LARGEST_COUNT:
            self._refuse(f"counts beyond {LARGEST_COUNT}")
        return Repeat(part, low, high)

    def _refuse(self, why: str) -> NoReturn:
        raise BadPattern(f"the pattern {self._text!r} {why}, which takes too long to compare with")
