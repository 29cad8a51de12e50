"""Show the schemas of installed scripts in the OpenAPI document."""

import json
import re
from hashlib import md5
from typing import Any

from django.db import DatabaseError

from queues.models import Script

UNNAMEABLE = re.compile(r"[^A-Za-z0-9._-]")
EXAMPLES = {"const", "enum", "default", "examples"}  # values, whatever they look like
RUN = "/api/v1/services/scripts/{name}"


def revision() -> str:
    """Return a digest of the schemas: the rest of the document changes with the program alone."""
    return md5(json.dumps(_schemas(), sort_keys=True).encode(), usedforsecurity=False).hexdigest()


def add_scripts(result: dict[str, Any], generator: Any, request: Any, public: bool) -> Any:
    """Add each script's schema as a component, named by mount and name (drf-spectacular hook)."""
    operation = result.get("paths", {}).get(RUN, {}).get("post")
    schemas = _schemas()
    if operation is None or not schemas:
        return result
    components = result.setdefault("components", {}).setdefault("schemas", {})
    components.update(schemas)
    body = operation["requestBody"]["content"]["application/json"]
    references = [{"$ref": f"#/components/schemas/{name}"} for name in schemas]
    body["schema"] = {"anyOf": [*references, {"description": "Any JSON value."}]}
    return result


def _schemas() -> dict[str, Any]:
    try:
        scripts = list(Script.objects.exclude(schema__isnull=True).select_related("service")[:500])
    except DatabaseError:  # the document is also made without a database
        return {}
    named: dict[str, Any] = {}
    for script in scripts:
        name = _name(script)
        name = f"{name}.{script.pk}" if name in named else name
        named[name] = {"title": script.title, **_moved(script.schema or {}, name)}
    return named


def _name(script: Script) -> str:
    """Names of components have fewer characters than those of scripts."""
    return UNNAMEABLE.sub("_", f"script.{script.service.prefix}{script.name}")


def _moved(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Let references to the schema's own parts lead to where these are in this document.

    Its `$id` would be a base for them, but most readers of such documents do not know it.
    """
    named, rest = schema.get("$id", ""), {k: v for k, v in schema.items() if k != "$id"}
    return _below(rest, str(named), f"#/components/schemas/{name}")


def _below(part: Any, named: str, home: str) -> Any:
    if isinstance(part, list):
        return [_below(each, named, home) for each in part]
    if not isinstance(part, dict):
        return part
    moved = {k: each if k in EXAMPLES else _below(each, named, home) for k, each in part.items()}
    reference = moved.get("$ref")
    if isinstance(reference, str):
        own = reference.removeprefix(named) or "#"
        moved["$ref"] = home + own[1:] if own == "#" or own.startswith("#/") else reference
    return moved
