"""Example data that shows the shape of a script's JSON Schema."""

from collections.abc import Callable
from typing import Any

from atributo_site.console.push.references import resolved

Inner = Callable[[Any], Any]
DEEPEST = 10
SIMPLE = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "email": "ada@example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def example(schema: Any, whole: Any = None, depth: int = 0) -> Any:
    """Return data that shows the shape of a schema; None if the schema says too little."""
    whole = schema if whole is None else whole
    part = resolved(schema, whole)
    for name in ("default", "const"):
        if name in part:
            return part[name]
    if part.get("enum"):
        return part["enum"][0]
    if depth > DEEPEST:  # it refers to itself
        return None

    def inner(each: Any) -> Any:
        return example(each, whole, depth + 1)

    if isinstance(part.get("properties"), dict):
        return _members(part, inner)
    if isinstance(part.get("prefixItems"), list):
        return [inner(each) for each in part["prefixItems"]]
    ways = part.get("oneOf") or part.get("anyOf")
    return inner(ways[0]) if isinstance(ways, list) and ways else _simple(part, inner)


def _members(part: dict[str, Any], inner: Inner) -> dict[str, Any]:
    """Return the required members, and others that an example is known for."""
    members = {key: inner(each) for key, each in part["properties"].items()}
    required = part.get("required", [])
    return {key: value for key, value in members.items() if value is not None or key in required}


def _simple(part: dict[str, Any], inner: Inner) -> Any:
    kind = part.get("type")
    value = SIMPLE.get(kind) if isinstance(kind, str) else None
    if isinstance(value, str):
        return FORMATS.get(part.get("format", ""), value.ljust(_least(part, "minLength"), "x"))
    if kind in ("integer", "number"):
        return max(value or 0, _least(part, "minimum"))
    if kind == "array":
        return [inner(part.get("items"))] * int(_least(part, "minItems"))
    return value


def _least(part: dict[str, Any], name: str) -> Any:
    least = part.get(name, 0)
    return least if isinstance(least, int | float) else 0
