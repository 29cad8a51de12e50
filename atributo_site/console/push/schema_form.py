"""Make a form from a script's JSON Schema, and example data that the schema accepts."""

import json
from dataclasses import dataclass, field
from typing import Any

from atributo_site.web.format import one_line, pretty_json
from queues.errors import DataRefused

SIMPLE = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
PREFIX = "data-"
WHOLE = "data"
KINDS = {"string": "text", "integer": "integer", "number": "number", "boolean": "checkbox"}
LIMITS = {"minimum": "min", "maximum": "max", "minLength": "minlength", "maxLength": "maxlength"}
EMPTY = object()  # the value of a field that was left empty
FORMATS = {
    "date": "2026-01-31",
    "email": "ada@example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def example(schema: Any) -> Any:
    """Return data that shows the shape of a schema; None if the schema says too little."""
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
    """Return the required members, and others that an example is known for."""
    members = {key: example(part) for key, part in schema["properties"].items()}
    required = schema.get("required", [])
    return {key: value for key, value in members.items() if value is not None or key in required}


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
    least = schema.get(name, 0)
    return least if isinstance(least, int | float) else 0


@dataclass
class Field:
    """One input; the template chooses its element by `kind`."""

    name: str
    label: str
    kind: str = "text"
    help: str = ""
    required: bool = False
    value: str = ""
    checked: bool = False
    choices: list[tuple[str, str]] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)
    error: str = ""

    @property
    def input_name(self) -> str:
        return PREFIX + self.name


class SchemaForm:
    """Properties or a fixed list of arguments become fields; other data is typed as JSON."""

    def __init__(self, schema: dict[str, Any] | None, data: Any = None) -> None:
        self.schema = schema or {}
        self.parts = _parts(self.schema)
        self.listed = "prefixItems" in self.schema
        self.error = ""
        fits = data is None or isinstance(data, list if self.listed else dict)
        self.whole = not self.parts or not fits
        self.text = "" if data is None else pretty_json(data)
        values = dict(enumerate(data)) if isinstance(data, list) else data or {}
        self.fields = [] if self.whole else [self._field(key, values) for key in self.parts]

    def read(self, given: Any) -> Any:
        """Read the data as typed, without checking it against the schema."""
        if self.whole:
            self.text = given.get(WHOLE, "")
            return _json(self.text, WHOLE)
        pairs = zip(self.parts, self.fields, strict=True)
        values = {key: self._value(each, given) for key, each in pairs}
        if not self.listed:
            return {key: value for key, value in values.items() if value is not EMPTY}
        listed = [None if value is EMPTY else value for value in values.values()]
        return listed if any(value is not None for value in listed) else None

    def refuse(self, error: DataRefused) -> None:
        """Show the reason at the field that it is about."""
        first = str(error.facts.get("path", "")).split("/")[0]
        for each in self.fields:
            if each.name == first:
                each.error = str(error)
                return
        self.error = str(error)

    def _field(self, key: Any, values: Any) -> Field:
        part = self.parts[key]
        required = self.listed or key in self.schema.get("required", [])
        label = str(part.get("title") or key)
        made = Field(str(key), label, _kind(part), str(part.get("description", "")), required)
        made.limits = {
            html: part[name]
            for name, html in LIMITS.items()
            if isinstance(part.get(name), int | float)
        }
        made.choices = [(json.dumps(value), str(value)) for value in part.get("enum", [])]
        value = values.get(key, part.get("default"))
        made.checked = value is True
        made.value = _field_text(value, made.kind)
        return made

    def _value(self, each: Field, given: Any) -> Any:
        text = given.get(each.input_name, "")
        each.value, each.checked = text, bool(text)
        if each.kind == "checkbox":
            return bool(text)
        if text == "" and each.kind != "text" or text == "" and not each.required:
            return EMPTY
        return READERS.get(each.kind, _text)(text, each.name)


def _parts(schema: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    parts = schema.get("properties")
    if not isinstance(parts, dict):
        listed = schema.get("prefixItems")
        parts = dict(enumerate(listed)) if isinstance(listed, list) else {}
    return {key: part if isinstance(part, dict) else {} for key, part in parts.items()}


def _kind(part: dict[str, Any]) -> str:
    if "enum" in part:
        return "select"
    if part.get("x-secret"):
        return "password"
    kind = part.get("type")
    return KINDS.get(kind, "json") if isinstance(kind, str) else "json"


def _field_text(value: Any, kind: str) -> str:
    if value is None:
        return ""
    is_json = kind in {"json", "select"}
    return json.dumps(value, ensure_ascii=False) if is_json else one_line(value)


def _text(text: str, name: str) -> Any:
    return text.replace("\r\n", "\n")


def _number(text: str, name: str) -> Any:
    """Read a number; leave any other text to the schema, which refuses it."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _json(text: str, name: str) -> Any:
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataRefused(f"{name}: not JSON: {error}", path=name) from error


READERS = {"integer": _number, "number": _number, "json": _json, "select": _json}
