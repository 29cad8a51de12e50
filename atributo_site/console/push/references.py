"""Follow the references of a JSON Schema into itself."""

from typing import Any

MOST = 20  # one after the other: some lead in a circle


def resolved(part: Any, schema: Any) -> dict[str, Any]:
    """Return a part with the part that it refers to; an empty one where there is none."""
    for _ in range(MOST):
        if not isinstance(part, dict) or not isinstance(part.get("$ref"), str):
            break
        others = {name: value for name, value in part.items() if name != "$ref"}
        referred = _referred(part["$ref"], schema)
        part = {**referred, **others} if isinstance(referred, dict) else others
    return part if isinstance(part, dict) else {}


def _referred(reference: str, schema: Any) -> Any:
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        schema = schema.get(name) if isinstance(schema, dict) else None
    return schema if reference.startswith("#") else None
