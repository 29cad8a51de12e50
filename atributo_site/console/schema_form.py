"""A form from a JSON Schema: one input per property; anything else is one JSON text."""

import json
from typing import Any

from queues.errors import BadPush

SIMPLE = {"string", "integer", "number", "boolean"}


def fields_of(schema: dict[str, Any] | None, given: Any) -> list[dict[str, Any]]:
    """What to draw, with what was typed before."""
    parts = _parts(schema)
    if parts is None:
        return [
            {"name": "json", "kind": "json", "title": "Data (JSON)", "value": given.get("json", "")}
        ]
    return [_field(name, part, required, given) for name, part, required in parts]


def data_from(schema: dict[str, Any] | None, given: Any) -> Any:
    """The data that a filled-in form means."""
    parts = _parts(schema)
    if parts is None:
        return _json(given.get("json", ""))
    values = {name: _value(name, part, given) for name, part, _ in parts}
    if isinstance(schema, dict) and schema.get("type") == "array":
        return list(values.values())
    return {name: value for name, value in values.items() if value is not None}


def _parts(schema: dict[str, Any] | None) -> list[tuple[str, dict[str, Any], bool]] | None:
    """Name, schema and need of each input; None where a form cannot be drawn."""
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        needed = schema.get("required", [])
        return [(name, part, name in needed) for name, part in schema["properties"].items()]
    if schema.get("type") == "array" and isinstance(schema.get("prefixItems"), list):
        return [(f"item-{n}", part, True) for n, part in enumerate(schema["prefixItems"])]
    return None


def _field(name: str, part: dict[str, Any], required: bool, given: Any) -> dict[str, Any]:
    kind = "json"
    if "enum" in part:
        kind = "choice"
    elif part.get("type") in SIMPLE:
        kind = str(part["type"])
    return {
        "name": name,
        "kind": "secret" if part.get("x-secret") else kind,
        "title": part.get("title", name),
        "help": part.get("description", ""),
        "required": required,
        "choices": part.get("enum", []),
        "value": given.get(name, part.get("default", "")),
        "least": part.get("minimum"),
        "most": part.get("maximum"),
        "step": "1" if kind == "integer" else "any",
    }


def _value(name: str, part: dict[str, Any], given: Any) -> Any:
    text = given.get(name, "")
    kind = part.get("type")
    if kind == "boolean":
        return bool(text)
    if text == "":
        return None
    if "enum" in part:
        return next((choice for choice in part["enum"] if str(choice) == text), text)
    return text if kind == "string" else _json(text)


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else None
    except ValueError as error:
        raise BadPush(f"{text!r} is not JSON: {error}") from error
