"""Show the schemas of installed scripts in the OpenAPI document."""

from typing import Any

from django.db import DatabaseError

from queues.models import Script

RUN = "/api/v1/services/scripts/{name}"


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
        scripts = list(Script.objects.exclude(schema=None).select_related("service")[:500])
    except DatabaseError:  # the document is also made without a database
        return {}
    return {_name(script): {"title": script.title, **(script.schema or {})} for script in scripts}


def _name(script: Script) -> str:
    return f"script.{script.service.prefix}{script.name}".replace("%", "_")
