"""The text of the jobs' search box: words and qualifiers such as queue:mail error:"timed out"."""

import re
from dataclasses import dataclass

QUALIFIERS = ("id", "queue", "script", "error", "data", "sticky", "flow", "instance", "by")
TERM = re.compile(r'(?:([a-z]+(?:\.[^\s:"]+)?):)?(?:"([^"]*)"|(\S+))')


@dataclass(frozen=True)
class Term:
    """`name` is a qualifier or empty; `path` are the keys behind `data.`."""

    name: str
    value: str
    path: tuple[str, ...] = ()


def parsed(text: str) -> list[Term]:
    """Read terms; a word with an unknown qualifier is a plain word."""
    return [_term(match) for match in TERM.finditer(text)]


def _term(match: re.Match[str]) -> Term:
    qualifier, quoted, plain = match[1], match[2], match[3]
    value = plain if quoted is None else quoted
    name, *path = (qualifier or "").split(".")
    if name not in QUALIFIERS or (path and name != "data"):
        return Term("", match[0].strip('"') if qualifier else value)
    return Term(name, value, tuple(path))


def written(name: str, value: str) -> str:
    """Write a term as it is typed."""
    plain = value and not re.search(r'[\s"]', value)
    return f"{name}:{value}" if plain else f'{name}:"{value.replace(chr(34), "")}"'
