"""The fields of a form that is made from a JSON Schema: one per member, groups for objects."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from atributo_site.console.push.references import resolved
from atributo_site.console.push.schema_example import FORMATS
from atributo_site.web.format import one_line

PREFIX = "data-"
GROUP = "object"
DEEPEST = 4  # groups within groups; what lies deeper is typed as JSON
KINDS = {"string": "text", "integer": "integer", "number": "number", "boolean": "checkbox"}
KINDS_BY_FORMAT = {"date": "date", "email": "email", "uri": "url"}
INPUTS = {"integer": "number", "number": "number", "url": "url", "email": "email"} | {
    "date": "date",
    "password": "password",
}
READABLE = {
    "date": re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII),
    "number": re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?\Z", re.ASCII),
}


@dataclass
class Field:
    """One input, or a group of them; the template chooses its element by `kind`."""

    path: tuple[str, ...]
    label: str
    kind: str = "text"
    help: str = ""
    required: bool = False
    value: str = ""
    checked: bool = False
    choices: list[tuple[str, str]] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)
    placeholder: str = ""
    fields: list["Field"] = field(default_factory=list)  # of a group
    error: str = ""

    @property
    def input_name(self) -> str:
        """Return its name in the form; a slash leads into a group, as in a JSON Pointer."""
        return PREFIX + "/".join(_escaped(part) for part in self.path)

    @property
    def input_type(self) -> str:
        """Return the type of its input; a text that the type cannot hold stays visible as text."""
        kind = INPUTS.get(self.kind, "text")
        pattern = READABLE.get(kind)
        return kind if pattern is None or not self.value or pattern.match(self.value) else "text"

    def inputs(self) -> Iterator["Field"]:
        """Return itself, or the inputs of the group."""
        if self.kind != GROUP:
            yield self
        for each in self.fields:
            yield from each.inputs()

    def at(self, path: tuple[str, ...]) -> "Field | None":
        """Return the innermost field that a path leads to or through."""
        if self.path != path[: len(self.path)]:
            return None
        return next((inner for each in self.fields if (inner := each.at(path))), self)


class FieldMaker:
    """Make fields from the parts of one schema, whose references lead into it."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema

    def make(self, path: tuple[str, ...], given: Any, value: Any, *, required: bool) -> Field:
        """Make the field of a part; what is within an optional group is never required."""
        part = resolved(given, self._schema)
        value = part.get("default") if value is None else value
        made = Field(path, str(part.get("title") or path[-1]), required=required)
        made.help = str(part.get("description", ""))
        made.choices = _choices(part)
        made.kind = self._kind(part, value, len(path))
        if made.kind == GROUP:
            needed = part.get("required", []) if required else []
            made.fields = [
                self.make((*path, name), inner, (value or {}).get(name), required=name in needed)
                for name, inner in part["properties"].items()
            ]
            return made
        made.limits = _limits(part, made.kind)
        made.placeholder = FORMATS.get(str(part.get("format", "")), "")
        made.checked = value is True
        made.value = _typed(value, made.kind)
        if made.kind == "select" and made.value and made.value not in dict(made.choices):
            made.choices.append((made.value, one_line(value)))  # not lost by looking at it
        return made

    def _kind(self, part: dict[str, Any], value: Any, depth: int) -> str:
        if _choices(part):
            return "select"
        if part.get("x-secret"):
            return "password"
        if _is_group(part) and fits(part["properties"], value) and depth <= DEEPEST:
            return GROUP
        kind = part.get("type")
        known = KINDS.get(kind, "json") if isinstance(kind, str) else "json"
        by_format = KINDS_BY_FORMAT.get(str(part.get("format", "")))
        return by_format or known if known == "text" else known


def fits(parts: Mapping[Any, Any], value: Any) -> bool:
    """Return whether fields for these parts can show all of a value."""
    if isinstance(value, list):
        return len(value) <= len(parts) and all(isinstance(key, int) for key in parts)
    return value is None or isinstance(value, dict) and value.keys() <= parts.keys()


def _is_group(part: dict[str, Any]) -> bool:
    properties = part.get("properties")
    is_object = part.get("type", "object") == "object"
    return is_object and isinstance(properties, dict) and bool(properties)


def _choices(part: dict[str, Any]) -> list[tuple[str, str]]:
    """Return values as JSON, with their words: of `enum`, `const`, or alternatives of these."""
    if isinstance(part.get("enum"), list):
        return [_choice(value) for value in part["enum"]]
    if "const" in part:
        return [_choice(part["const"])]
    ways = part.get("oneOf") or part.get("anyOf")
    if not isinstance(ways, list) or not all(isinstance(e, dict) and "const" in e for e in ways):
        return []
    return [_choice(each["const"], each.get("title")) for each in ways]


def _choice(value: Any, title: Any = None) -> tuple[str, str]:
    return json.dumps(value, ensure_ascii=False), str(title or one_line(value))


def _limits(part: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the limits that a browser can check, as attributes."""
    if kind in {"text", "password", "email", "url"}:
        names = {"minLength": "minlength", "maxLength": "maxlength"}
        return {html: part[name] for name, html in names.items() if _is_number(part.get(name))}
    if kind not in {"integer", "number"}:
        return {}
    given = {"min": part.get("minimum"), "max": part.get("maximum")}
    limits: dict[str, Any] = {name: each for name, each in given.items() if _is_number(each)}
    if kind == "integer":  # a browser counts its steps from the minimum
        limits = {name: _whole(limit, name) for name, limit in limits.items()}
    step: Any = part.get("multipleOf")
    if not _is_number(step) or step <= 0 or limits.get("min", 0) % step:
        step = 1 if kind == "integer" else "any"
    return {**limits, "step": step}


def _whole(limit: float, name: str) -> int:
    return math.ceil(limit) if name == "min" else math.floor(limit)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _typed(value: Any, kind: str) -> str:
    if value is None:
        return ""
    is_json = kind in {"json", "select"}
    return json.dumps(value, ensure_ascii=False) if is_json else one_line(value)


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
