"""Data that shows the shape of a schema, and that the schema takes."""

from typing import Any

SIMPLE = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
FORMATS = {
    "date": "2026-01-31",
    "email": "ada@example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def example(schema: Any) -> Any:
    """None where a schema says too little."""
    if not isinstance(schema, dict):
        return None
    for name in ("default", "const"):
        if name in schema:
            return schema[name]
    if schema.get("enum"):
        return schema["enum"][0]
    if isinstance(schema.get("properties"), dict):
        return _members(schema)
    if isinstance(schema.get("prefixItems"), list):
        return [example(part) for part in schema["prefixItems"]]
    return _simple(schema)


def _members(schema: dict[str, Any]) -> dict[str, Any]:
    """What is required, and of the rest what an example is known of."""
    found = {key: example(part) for key, part in schema["properties"].items()}
    required = schema.get("required", [])
    return {key: value for key, value in found.items() if value is not None or key in required}


def _simple(schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    value = SIMPLE.get(kind) if isinstance(kind, str) else None
    if isinstance(value, str):
        return FORMATS.get(schema.get("format", ""), value.ljust(_least(schema, "minLength"), "x"))
    if kind in ("integer", "number"):
        return max(value or 0, _least(schema, "minimum"))
    if kind == "array":
        return [example(schema.get("items"))] * int(_least(schema, "minItems"))
    return value


def _least(schema: dict[str, Any], name: str) -> Any:
    found = schema.get(name, 0)
    return found if isinstance(found, int | float) else 0
