"""A script's JSON Schema: checks data, fills in defaults."""

import json
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, best_match

from queues.errors import DataRefused

# Named, because which others the library knows depends on what else is installed.
FORMATS = FormatChecker(("date", "email", "ipv4", "ipv6", "uuid"))


def schema_error(schema: dict[str, Any]) -> str | None:
    """Why a schema is none, or None."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"schema: {error.message}"
    return None


def check(schema: dict[str, Any] | None, data: Any) -> Any:
    """The data with the schema's defaults filled in, or DataRefused."""
    if not schema:
        return data
    filled = with_defaults(schema, data)
    error = best_match(_validator(json.dumps(schema, sort_keys=True)).iter_errors(filled))
    if error is not None:
        where = "/".join(str(part) for part in error.absolute_path)
        raise DataRefused(f"{where or 'data'}: {error.message}", path=where)
    return filled


def with_defaults(schema: dict[str, Any], data: Any) -> Any:
    if not isinstance(data, dict) or not isinstance(schema.get("properties"), dict):
        return data
    defaults = {
        name: part["default"]
        for name, part in schema["properties"].items()
        if isinstance(part, dict) and "default" in part
    }
    return {**defaults, **data}


@lru_cache(maxsize=256)
def _validator(text: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(text), format_checker=FORMATS)
