"""Check data by a script's JSON Schema, and fill in defaults.

The library is loaded with the first schema: most commands and jobs have none.
"""

import json
from functools import lru_cache
from typing import Any

from queues.errors import DataRefused
from queues.logic.regex.engine import compiled
from queues.logic.regex.syntax import BadPattern
from queues.logic.secret_fields import secret_names
from queues.schema.words import reason

# Named, because which others the library knows depends on what else is installed.
FORMATS = ("date", "email", "ipv4", "ipv6", "uuid")


def schema_error(schema: dict[str, Any]) -> str | None:
    """Return why a schema is invalid, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    try:
        Draft202012Validator.check_schema(schema)
        _refuse_pair(json.dumps(schema))
        _look_through(schema)
    except SchemaError as error:
        where = "/".join(str(part) for part in error.absolute_path)
        return f"{where}: {reason(error)}" if where else reason(error)
    except BadPattern as error:
        return str(error)
    except Unresolvable as error:
        return f"$ref {error.ref} leads nowhere"
    return None


def check(schema: dict[str, Any] | None, data: Any) -> Any:
    """Return the data with the schema's defaults filled in, or raise DataRefused."""
    if not schema:
        return data
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    filled = with_defaults(schema, data)
    try:
        error = best_match(_validator(json.dumps(schema, sort_keys=True)).iter_errors(filled))
    except Unresolvable as missing:  # installed before such a schema was refused
        raise DataRefused(f"schema: $ref {missing.ref} leads nowhere") from missing
    except BadPattern as slow:  # likewise
        raise DataRefused(f"schema: {slow}") from slow
    except RecursionError as deep:
        raise DataRefused("data: nested too deep, or the schema refers to itself") from deep
    if error is not None:
        where = "/".join(str(part) for part in error.absolute_path)
        said = reason(error, secret_names(schema))
        raise DataRefused(f"{where or 'data'}: {said}", path=where, **_missing(error))
    return filled


def empty_value(schema: dict[str, Any] | None) -> Any:
    """Return what an empty box of a form stands for: {} or [] where the schema wants one."""
    return {"object": {}, "array": []}.get(str((schema or {}).get("type")))


def _missing(error: Any) -> dict[str, str]:
    """Return the name of a member that is required and not there."""
    if error.validator != "required":
        return {}
    required: Any = error.validator_value
    there: Any = error.instance
    names = [name for name in required if name not in there]
    return {"missing": names[0]} if names else {}


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
def _validator(text: str) -> Any:
    """Build a validator that knows our schemas only: the library's registry would fetch others."""
    from jsonschema import FormatChecker
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    from queues.schema.keywords import Validator

    _refuse_pair(text)
    return Validator(json.loads(text), format_checker=FormatChecker(FORMATS), registry=REGISTRY)


def _refuse_pair(text: str) -> None:
    """Refuse two keywords together: the library itself would compare names with patterns."""
    if '"unevaluatedProperties"' in text and '"patternProperties"' in text:
        raise BadPattern("patternProperties and unevaluatedProperties cannot stand in one schema")


def _look_through(schema: dict[str, Any]) -> None:
    """Raise Unresolvable for a reference that leads nowhere, BadPattern for a slow pattern."""
    from jsonschema_specifications import REGISTRY
    from referencing import Resource
    from referencing.jsonschema import DRAFT202012

    root: Resource[Any] = Resource.from_contents(schema, default_specification=DRAFT202012)
    _look_up(root, REGISTRY.resolver_with_root(root))


def _look_up(resource: Any, resolver: Any) -> None:
    if isinstance(resource.contents, dict):
        for keyword in {"$ref", "$dynamicRef"} & resource.contents.keys():
            resolver.lookup(resource.contents[keyword])
        for pattern in _patterns(resource.contents):
            compiled(pattern)
    for inner in resource.subresources():
        _look_up(inner, resolver.in_subresource(inner))


def _patterns(part: dict[str, Any]) -> list[str]:
    return [*part.get("patternProperties", {}), *([part["pattern"]] if "pattern" in part else [])]
