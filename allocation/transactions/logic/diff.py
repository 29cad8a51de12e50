"""Compare two JSON values place by place; numbers are compared exactly."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]


class Missing:
    """The value of a place that is not there; null is a value."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


@dataclass(frozen=True)
class Change:
    """One place: the path in front of it, and what stood there before and stands there after.

    An item that a list lost carries its position before, one that it got its position after.
    """

    path: Path
    before: Any
    after: Any


def diff(before: Any, after: Any) -> list[Change]:
    """Return the places that differ, in the order of the value."""
    return list(_changes((), before, after))


def applied(before: Any, changes: Iterable[Change]) -> Any:
    """Return the value after the changes of `diff`; the given one is not changed."""
    listed = list(changes)
    removed = [change for change in listed if change.after is MISSING]
    for change in [change for change in listed if change.after is not MISSING]:
        before = _with(before, change.path, change)
    for change in reversed(removed):  # the last item first, so that positions stay true
        before = _with(before, change.path, change)
    return before


def same(one: Any, other: Any) -> bool:
    """Compare value and type: 1, 1.0 and true are three different things."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def _changes(path: Path, before: Any, after: Any) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _members(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _items(path, before, after)
    elif not same(before, after):
        yield Change(path, before, after)


def _members(path: Path, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    names = [*before, *(name for name in after if name not in before)]
    for name in names:
        yield from _changes((*path, name), before.get(name, MISSING), after.get(name, MISSING))


def _items(path: Path, before: list[Any], after: list[Any]) -> Iterator[Change]:
    """Skip what both lists begin and end with; compare the items in between one by one."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    for index in range(max(len(old), len(new))):
        yield from _changes((*path, start + index), _item(old, index), _item(new, index))


def _common(one: list[Any], other: list[Any]) -> int:
    differs = (index for index, pair in enumerate(zip(one, other, strict=False)) if not same(*pair))
    return next(differs, min(len(one), len(other)))


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else MISSING


def _with(value: Any, path: Path, change: Change) -> Any:
    if not path:
        return change.after
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        assert isinstance(step, int)
        return _list_with(value, step, rest, change)
    if not rest and change.after is MISSING:
        return {name: member for name, member in value.items() if name != step}
    return {**value, step: _with(value.get(step), rest, change)}


def _list_with(items: list[Any], index: int, rest: Path, change: Change) -> list[Any]:
    head, tail = items[:index], items[index + 1 :]
    if rest or MISSING not in (change.before, change.after):
        return [*head, _with(items[index], rest, change), *tail]
    return [*head, *tail] if change.after is MISSING else [*head, change.after, *items[index:]]
