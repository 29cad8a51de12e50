"""Changes as lines of a table: where, what stood there, what stands there; secrets hidden."""

import json
from dataclasses import dataclass
from typing import Any

from allocation.logic.diff import MISSING, Change, Path, diff
from allocation.logic.secrets import MASK, looks_secret, masked

MOST_LINES = 100
LONGEST_TEXT = 2000
LONGEST_VALUE = 20_000


@dataclass(frozen=True)
class Line:
    """`before` is None for what was added, `after` for what was removed."""

    path: str
    kind: str  # added, removed, changed
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Changes:
    lines: list[Line]
    more: int  # lines that are left out


def changes(before: Any, after: Any) -> Changes:
    """From one value to another; MISSING stands for a key that is not there."""
    found = diff(before, after)
    return Changes([_line(change) for change in found[:MOST_LINES]], len(found[MOST_LINES:]))


def value_text(value: Any) -> tuple[str, int]:
    """JSON for people, secrets hidden, and how many characters are left out."""
    text = _json(masked(value))
    return text[:LONGEST_VALUE], max(0, len(text) - LONGEST_VALUE)


def brief_value(value: Any, longest: int = 140) -> str:
    """The value on one line."""
    text = json.dumps(masked(value), ensure_ascii=False)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def path_text(path: Path) -> str:
    """For example `tags[2].name`; nothing for the whole value."""
    return "".join(map(_step, path)).removeprefix(".")


def _line(change: Change) -> Line:
    kinds = {change.before is MISSING: "added", change.after is MISSING: "removed"}
    return Line(
        path_text(change.path),
        kinds.get(True, "changed"),
        _shown(change.path, change.before),
        _shown(change.path, change.after),
    )


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{json.dumps(step, ensure_ascii=False)}]"


def _shown(path: Path, value: Any) -> str | None:
    if value is MISSING:
        return None
    secret = any(isinstance(step, str) and looks_secret(step) for step in path)
    text = MASK if secret and value is not None else _json(masked(value))
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
