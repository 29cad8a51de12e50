"""Two JSON values side by side, as lines that people read."""

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

MOST_LINES = 400
NOTHING = object()  # a key that does not exist, which is not the value null


@dataclass(frozen=True)
class Line:
    """`mark` is «same», «added» or «removed»."""

    mark: str
    text: str


def diff(before: Any, after: Any) -> list[Line]:
    """The lines of both values, each once, in order; cut off when there are very many."""
    old, new = _lines(before), _lines(after)
    found: list[Line] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            found += [Line("same", text) for text in old[a:b]]
        else:
            found += [Line("removed", text) for text in old[a:b]]
            found += [Line("added", text) for text in new[c:d]]
    return found


def _lines(value: Any) -> list[str]:
    if value is NOTHING:
        return []
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    lines = text.splitlines()
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "…"]
