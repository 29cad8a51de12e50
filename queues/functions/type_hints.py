"""A JSON Schema from the type hints of a function; what no JSON type expresses is left open."""

import types
from collections.abc import Callable
from inspect import Parameter
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from queues.functions.parameters import Taken, parameters_of

PLAIN: dict[Any, dict[str, Any]] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    type(None): {"type": "null"},
}
LISTS = (list, tuple, set, frozenset)
DEEPEST = 10


def schema_of(function: Callable[..., Any], *, takes_context: bool) -> dict[str, Any]:
    """Return an object with a property for each parameter."""
    hints = _hints(function)
    taken = parameters_of(function, takes_context=takes_context)
    single = [each for each in taken if each.kind is not Parameter.VAR_KEYWORD]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {each.name: _property(each, hints) for each in single},
        "additionalProperties": False,
    }
    if required := [each.name for each in single if each.is_required]:
        schema["required"] = required
    for others in taken:
        if others.kind is Parameter.VAR_KEYWORD:
            schema["additionalProperties"] = part_of(hints.get(others.name, Any)) or True
    return schema


def part_of(hint: Any, depth: int = 0) -> dict[str, Any]:
    """Return the schema of one hint; an empty one, which takes anything, for what is unknown."""
    if _is_hashable(hint) and hint in PLAIN:
        return dict(PLAIN[hint])
    origin, inner = get_origin(hint), get_args(hint)
    if depth > DEEPEST:
        return {}
    if origin is Literal:
        return {"enum": list(inner)} if all(_is_plain(each) for each in inner) else {}
    if origin in (Union, types.UnionType):
        return _any_of([part_of(each, depth + 1) for each in inner])
    if origin in LISTS:
        return _list_of(origin, inner, depth)
    if origin is dict and len(inner) == 2:
        members = part_of(inner[1], depth + 1)
        return {"type": "object", **({"additionalProperties": members} if members else {})}
    if is_typeddict(hint):
        return _members_of(hint, depth)
    return {}


def _property(each: Taken, hints: dict[str, Any]) -> dict[str, Any]:
    hint = hints.get(each.name, Any)
    is_old = each.default is None and isinstance(hint, type)  # name: str = None
    part = part_of(hint | None if is_old else hint)
    if each.kind is Parameter.VAR_POSITIONAL:
        return {"type": "array", **({"items": part} if part else {})}
    if isinstance(each.default, bool) and part.get("type") == "boolean":
        part["default"] = each.default  # a box of a form is ticked or not
    return part


def _any_of(parts: list[dict[str, Any]]) -> dict[str, Any]:
    if not all(parts):
        return {}
    if all(isinstance(each.get("type"), str) and len(each) == 1 for each in parts):
        unique = list(dict.fromkeys(each["type"] for each in parts))
        return {"type": unique[0] if len(unique) == 1 else unique}
    return {"anyOf": parts}


def _list_of(origin: Any, inner: tuple[Any, ...], depth: int) -> dict[str, Any]:
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        return {"type": "array"}
    items = part_of(inner[0], depth + 1)
    return {"type": "array", **({"items": items} if items else {})}


def _members_of(hint: Any, depth: int) -> dict[str, Any]:
    members = {name: part_of(each, depth + 1) for name, each in _hints(hint).items()}
    required = sorted(getattr(hint, "__required_keys__", ()))
    return {"type": "object", "properties": members, **({"required": required} if required else {})}


def _hints(holder: Any) -> dict[str, Any]:
    """Return the hints that can be read; names that exist for type checkers alone cannot."""
    try:
        return get_type_hints(holder)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _is_hashable(hint: Any) -> bool:
    return getattr(hint, "__hash__", None) is not None


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | type(None))
