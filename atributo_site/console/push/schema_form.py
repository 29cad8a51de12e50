"""Make a form from a script's JSON Schema, and read the data that was typed into it."""

import json
from typing import Any

from atributo_site.console.push.references import resolved
from atributo_site.console.push.schema_fields import GROUP, Field, FieldMaker, fits
from atributo_site.web.format import pretty_json
from queues.errors import DataRefused
from queues.schema.validation import empty_value

WHOLE = "data"
EMPTY = object()  # the value of a field that was left empty


class SchemaForm:
    """Properties or a fixed list of arguments become fields; other data is typed as JSON."""

    def __init__(self, schema: dict[str, Any] | None, data: Any = None) -> None:
        maker = FieldMaker(schema or {})
        self.schema = resolved(schema, schema)
        self.parts = _parts(self.schema)
        self.listed = not isinstance(self.schema.get("properties"), dict)
        self.error = ""
        is_of_kind = data is None or isinstance(data, list if self.listed else dict)
        self.whole = not self.parts or not is_of_kind or not fits(self.parts, data)
        self.text = "" if data is None else pretty_json(data)
        values = dict(enumerate(data)) if isinstance(data, list) else data or {}
        needed = self.parts if self.listed else self.schema.get("required", [])
        self.fields = [
            maker.make((str(key),), part, values.get(key), required=key in needed)
            for key, part in ({} if self.whole else self.parts).items()
        ]

    def inputs(self) -> list[Field]:
        """Return every input, those of groups included."""
        return [each for top in self.fields for each in top.inputs()]

    def read(self, given: Any) -> Any:
        """Read the data as typed, without checking it against the schema."""
        if self.whole or WHOLE in given:  # it was shown as JSON, since no field could hold it
            self.whole, self.text = True, given.get(WHOLE, "")
            data = _json(self.text, WHOLE)
            return empty_value(self.schema) if data is None and not self.text.strip() else data
        pairs = zip(self.parts, self.fields, strict=True)
        values = {key: _value(each, given) for key, each in pairs}
        if not self.listed:
            return {key: value for key, value in values.items() if value is not EMPTY}
        listed = [None if value is EMPTY else value for value in values.values()]
        return listed if any(value is not None for value in listed) else None

    def refuse(self, error: DataRefused) -> None:
        """Show the reason at the field that it is about."""
        steps = f"{error.facts.get('path', '')}/{error.facts.get('missing', '')}".split("/")
        path = tuple(step for step in steps if step)
        about = next((inner for each in self.fields if (inner := each.at(path))), None)
        if about is None:
            self.error = str(error)
        else:
            about.error = str(error)


def _parts(schema: dict[str, Any]) -> dict[Any, Any]:
    parts = schema.get("properties")
    if isinstance(parts, dict):
        return parts
    listed = schema.get("prefixItems")
    return dict(enumerate(listed)) if isinstance(listed, list) else {}


def _value(each: Field, given: Any) -> Any:
    if each.kind == GROUP:
        return _members(each, given)
    text = given.get(each.input_name, "")
    each.value, each.checked = text, bool(text)
    if each.kind == "checkbox":
        return bool(text)
    if text == "" and (each.kind != "text" or not each.required):
        return EMPTY
    return READERS.get(each.kind, _text)(text, each.input_name)


def _members(group: Field, given: Any) -> Any:
    """Read a group; one that may be left out is, when nothing of it is filled in."""
    if group.input_name in given:  # its data did not fit the fields
        group.kind, group.fields = "json", []
        return _value(group, given)
    values = {each.path[-1]: _value(each, given) for each in group.fields}
    if not group.required and all(value is EMPTY or value is False for value in values.values()):
        return EMPTY
    return {name: value for name, value in values.items() if value is not EMPTY}


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
        path = name.removeprefix("data-")
        raise DataRefused(f"{path}: not JSON: {error}", path=path) from error


READERS = {"integer": _number, "number": _number, "json": _json, "select": _json}
