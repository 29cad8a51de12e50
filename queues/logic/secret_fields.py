"""Which values of jobs and services are secret, and which errors are alike."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any


def secret_names(schema: Any) -> set[str]:
    """Return properties that a schema marks with `x-secret`, at any depth, in any branch."""
    if isinstance(schema, list):
        return set().union(*map(secret_names, schema))
    if not isinstance(schema, Mapping):
        return set()
    properties = schema.get("properties")
    parts = properties.items() if isinstance(properties, Mapping) else ()
    marked = {name for name, part in parts if isinstance(part, Mapping) and part.get("x-secret")}
    return marked.union(*map(secret_names, schema.values()))


def origin(data: Any) -> tuple[str, str] | None:
    """Return mount and name of the script of the job that a callback is about."""
    match data:
        case [_, _, {"mount": str(mount), "name": str(name), "status": _}]:
            return mount, name
    return None


def passwords_of(definitions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the options of a service whose type says that they are secret."""
    return [name for name, definition in definitions.items() if definition["type"] == "password"]


def fingerprint(error: str) -> str:
    """Return the same for errors that differ in numbers and quoted values only."""
    shape = re.sub(r"0x[0-9a-f]+|\d+|'[^']*'|\"[^\"]*\"", "#", error.split("\n", 1)[0])
    return hashlib.sha256(shape.encode()).hexdigest()[:16]
