"""Parse the query of a search into a tree: `age:>30 AND (city:Paris OR NOT city:"Le Mans")`.

field:value    field:"two words"    field:pre*    field:*
field:>30      >=  <  <=            field:[10 TO 20]   {10 TO 20}   [10 TO *]
AND  OR  NOT   parentheses          *  (everything)
"""

import re
from collections import deque
from dataclasses import dataclass
from typing import Any

MAX_LENGTH = 4000
MAX_DEPTH = 20
MAX_TERMS = 200  # SQLite refuses much longer expressions
MAX_SORT_FIELDS = 20
MAX_NUMBERS = 4  # each doubles the paths that a field can mean
UNREADABLE = re.compile("[\x00\ud800-\udfff]")
TOKEN = re.compile(
    r"""\s*(?:
      (?P<open>\() | (?P<close>\)) | (?P<all>\*(?=\s|\)|$))
      | (?P<term>[^\s:()"\[\]{}]+:(?:"(?:[^"\\]|\\.)*" | [\[{][^\]}]*[\]}] | [^\s()"]+))
      | (?P<word>AND|OR|NOT)\b )""",
    re.VERBOSE,
)
RANGE = re.compile(r"([\[{])\s*(\S+)\s+TO\s+(\S+)\s*([\]}])")
COMPARISON = re.compile(r"(>=|<=|>|<)(.+)", re.DOTALL)
Tokens = deque[tuple[str, str]]


class BadQuery(ValueError):
    """A query that cannot be read; the text says where."""


@dataclass(frozen=True)
class Everything:
    pass


@dataclass(frozen=True)
class Term:
    """A field compared with a value: is, starts, exists, gt, gte, lt or lte."""

    field: tuple[str, ...]
    test: str
    value: Any = None


@dataclass(frozen=True)
class Not:
    item: Any


@dataclass(frozen=True)
class All:
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Any_:
    items: tuple[Any, ...]


def parsed(query: str) -> Any:
    """Return the tree of a query."""
    tokens = _tokens(_readable(query))
    if sum(kind == "term" for kind, _ in tokens) > MAX_TERMS:
        raise BadQuery(f"a query has at most {MAX_TERMS} conditions")
    if not tokens:
        return Everything()
    tree = _or(tokens, 0)
    if tokens:
        raise BadQuery(f"unexpected {tokens[0][1]!r}")
    return tree


def sort_fields(text: str) -> list[tuple[tuple[str, ...], bool]]:
    """`age:desc, key` → [(("age",), True), (("key",), False)]."""
    fields: list[tuple[tuple[str, ...], bool]] = []
    for part in filter(None, (part.strip() for part in _readable(text).split(","))):
        name, _, direction = part.partition(":")
        if direction not in ("", "asc", "desc"):
            raise BadQuery(f"a sort order is asc or desc, not {direction!r}")
        fields.append((_field(name), direction == "desc"))
    if len(fields) > MAX_SORT_FIELDS:
        raise BadQuery(f"at most {MAX_SORT_FIELDS} fields are sorted by")
    return fields


def _readable(text: object) -> str:
    if not isinstance(text, str):
        raise BadQuery(f"it is a text, not {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise BadQuery(f"a query has at most {MAX_LENGTH} characters")
    if UNREADABLE.search(text):
        raise BadQuery("no document contains NUL or half of a surrogate pair")
    return text


def _tokens(query: str) -> Tokens:
    tokens: Tokens = deque()
    position, end = 0, len(query.rstrip())
    while position < end:
        match = TOKEN.match(query, position)
        if match is None or match.lastgroup is None:
            raise BadQuery(f"cannot read {query[position : position + 30].strip()!r}")
        tokens.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return tokens


def _or(tokens: Tokens, depth: int) -> Any:
    items = [_and(tokens, depth)]
    while tokens and tokens[0] == ("word", "OR"):
        tokens.popleft()
        items.append(_and(tokens, depth))
    return items[0] if len(items) == 1 else Any_(tuple(items))


def _and(tokens: Tokens, depth: int) -> Any:
    """Join conditions by AND; the word itself may be left out."""
    items = [_not(tokens, depth)]
    while tokens and tokens[0] != ("word", "OR") and tokens[0][0] != "close":
        if tokens[0] == ("word", "AND"):
            tokens.popleft()
        items.append(_not(tokens, depth))
    return items[0] if len(items) == 1 else All(tuple(items))


def _not(tokens: Tokens, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise BadQuery(f"a query has at most {MAX_DEPTH} levels")
    if not tokens:
        raise BadQuery("the query ends too early")
    kind, text = tokens.popleft()
    if (kind, text) == ("word", "NOT"):
        return Not(_not(tokens, depth + 1))
    if kind == "open":
        tree = _or(tokens, depth + 1)
        if not tokens or tokens.popleft()[0] != "close":
            raise BadQuery("a parenthesis is not closed")
        return tree
    if kind == "all":
        return Everything()
    if kind != "term":
        raise BadQuery(f"unexpected {text!r}")
    return _term(text)


def _term(text: str) -> Any:
    name, _, condition = text.partition(":")
    field = _field(name)
    if match := RANGE.fullmatch(condition):
        return _range(field, *match.groups())
    if condition.startswith('"') and len(condition) > 1:
        return Term(field, "is", re.sub(r"\\(.)", r"\1", condition[1:-1]))
    if match := COMPARISON.fullmatch(condition):
        test = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}[match[1]]
        return Term(field, test, _bound(match[2]))
    if condition == "*":
        return Term(field, "exists")
    if condition.endswith("*"):
        return Term(field, "starts", condition[:-1])
    return Term(field, "is", _value(condition))


def _range(field: tuple[str, ...], opening: str, low: str, high: str, closing: str) -> Any:
    terms = []
    if low != "*":
        terms.append(Term(field, "gte" if opening == "[" else "gt", _bound(low)))
    if high != "*":
        terms.append(Term(field, "lte" if closing == "]" else "lt", _bound(high)))
    return All(tuple(terms)) if terms else Term(field, "exists")


def _field(name: str) -> tuple[str, ...]:
    """Return the steps of a name; `value.address.city` and `address.city` mean the same."""
    steps = tuple(name.strip().removeprefix("value.").split("."))
    if not all(steps):
        raise BadQuery(f"{name!r} is not a field")
    if sum(map(is_number, steps)) > MAX_NUMBERS:
        raise BadQuery(f"a field has at most {MAX_NUMBERS} numbers on its way")
    return steps


def is_number(step: str) -> bool:
    """Return whether the step may be a position of an array as well as a name."""
    return step.isascii() and step.isdigit()


def _bound(text: str) -> Any:
    value = _value(text)
    if value is None or isinstance(value, bool):
        raise BadQuery(f"nothing is more or less than {text}")
    return value


def _value(text: str) -> Any:
    """Return the number, true, false, null or text that is meant."""
    words = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    if re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    if re.fullmatch(r"-?[0-9]{1,18}\.[0-9]{1,18}", text):
        return float(text)
    return text
