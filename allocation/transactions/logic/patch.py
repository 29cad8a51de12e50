"""JSON Patch (RFC 6902, with inc and dec) and JSON Merge Patch (RFC 7396) on plain values."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

MOST_COPIED = 100_000  # a few copies of copies would fill any memory
DEEPEST = 32


class BadPatch(ValueError):
    """A patch that is malformed or does not fit the value."""


class TestFailed(BadPatch):
    """A `test` operation found another value."""

    __test__ = False  # not a class of tests, whatever its name


def patched(value: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """Return the value after all operations; the given one is not changed."""
    if isinstance(operations, str | Mapping) or not isinstance(operations, Iterable):
        raise BadPatch("a patch is a list of operations")
    result, room = deepcopy(value), MOST_COPIED
    for operation in operations:
        room -= _copied(result, operation)
        if room < 0:
            raise BadPatch(f"it copies more than {MOST_COPIED} values")
        result = _applied(result, operation)
    return result


def merged(value: Any, changes: Any) -> Any:
    """Return the value after a merge patch: null removes, objects merge, the rest replaces."""
    if not isinstance(changes, dict):
        return deepcopy(changes)
    result = dict(value) if isinstance(value, dict) else {}
    for name, change in changes.items():
        if change is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), change)
    return result


def _applied(value: Any, operation: Mapping[str, Any]) -> Any:
    if not isinstance(operation, Mapping):
        raise BadPatch("an operation must be an object")
    try:
        apply = OPERATIONS[str(operation["op"])]
        return apply(value, _steps(operation["path"]), operation)
    except KeyError as error:
        raise BadPatch(f"the operation {dict(operation)} lacks or does not know {error}") from error


def _copied(value: Any, operation: Any) -> int:
    """Return how many values this operation would copy."""
    if not isinstance(operation, Mapping) or operation.get("op") != "copy":
        return 0
    return _size(_value_at(value, _steps(operation.get("from"))))


def _size(value: Any, depth: int = 0) -> int:
    if depth > DEEPEST:
        raise BadPatch(f"a value is deeper than {DEEPEST} levels")
    if isinstance(value, dict):
        value = list(value.values())
    inner = value if isinstance(value, list) else []
    return 1 + sum(_size(member, depth + 1) for member in inner)


def _steps(path: Any) -> list[str]:
    """Split a JSON Pointer; its first slash may be missing."""
    if not isinstance(path, str):
        raise BadPatch("a path must be a text")
    if not path:
        return []
    steps = path.removeprefix("/").split("/")
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _add(value: Any, steps: list[str], operation: Mapping[str, Any]) -> Any:
    return _with_member(value, steps, deepcopy(operation["value"]))


def _remove(value: Any, steps: list[str], operation: Mapping[str, Any]) -> Any:
    parent, name = _parent(value, steps)
    _member(parent, name)
    del parent[_index(parent, name) if isinstance(parent, list) else name]
    return value


def _replace(value: Any, steps: list[str], operation: Mapping[str, Any]) -> Any:
    if not steps:
        return deepcopy(operation["value"])
    parent, name = _parent(value, steps)
    _member(parent, name)
    parent[_index(parent, name) if isinstance(parent, list) else name] = deepcopy(
        operation["value"]
    )
    return value


def _move(value: Any, steps: list[str], operation: Mapping[str, Any]) -> Any:
    source = _steps(operation["from"])
    if steps[: len(source)] == source and steps != source:
        raise BadPatch("a value cannot be moved into itself")
    moved = _value_at(value, source)
    return _with_member(_remove(value, source, operation), steps, moved)


def _copy(value: Any, steps: list[str], operation: Mapping[str, Any]) -> Any:
    return _with_member(value, steps, deepcopy(_value_at(value, _steps(operation["from"]))))


def _test(value: Any, steps: list[str], operation: Mapping[str, Any]) -> Any:
    current = _value_at(value, steps)
    if not _same(current, operation["value"]):
        raise TestFailed(f"/{'/'.join(steps)} is {current!r}, not {operation['value']!r}")
    return value


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON does, where true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _increase(value: Any, steps: list[str], operation: Mapping[str, Any]) -> Any:
    return _changed_by(value, steps, operation.get("value", 1), 1)


def _decrease(value: Any, steps: list[str], operation: Mapping[str, Any]) -> Any:
    return _changed_by(value, steps, operation.get("value", 1), -1)


def _changed_by(value: Any, steps: list[str], amount: Any, sign: int) -> Any:
    current = _value_at(value, steps)
    for number in (current, amount):
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise BadPatch(f"{number!r} is not a number")
    return _replace(value, steps, {"value": current + sign * amount})


def _with_member(value: Any, steps: list[str], member: Any) -> Any:
    if not steps:
        return member
    parent, name = _parent(value, steps)
    if isinstance(parent, list):
        position = len(parent) if name == "-" else _index(parent, name, len(parent))
        parent.insert(position, member)
    elif isinstance(parent, dict):
        parent[name] = member
    else:
        raise BadPatch(f"{parent!r} has no members")
    return value


def _value_at(value: Any, steps: list[str]) -> Any:
    for step in steps:
        value = _member(value, step)
    return value


def _member(parent: Any, name: str) -> Any:
    if isinstance(parent, list):
        return parent[_index(parent, name)]
    if isinstance(parent, dict) and name in parent:
        return parent[name]
    raise BadPatch(f"there is no member {name!r}")


def _parent(value: Any, steps: list[str]) -> tuple[Any, str]:
    if not steps:
        raise BadPatch("the whole value has no place to be changed at")
    return _value_at(value, steps[:-1]), steps[-1]


def _index(items: list[Any], name: str, most: int | None = None) -> int:
    most = len(items) - 1 if most is None else most
    if not (name.isascii() and name.isdigit() and len(name) < 10) or int(name) > most:
        raise BadPatch(f"there is no position {name!r}")
    return int(name)


OPERATIONS = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
    "inc": _increase,
    "dec": _decrease,
}
