"""Read a service's manifest.json as a value, with all its errors at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from posixpath import join, normpath
from typing import Any

from queues.logic.flow.limits import BadLimit, parsed, stored
from queues.logic.mounts import title
from queues.logic.options import PUSH_ONLY, BadOption, resolve
from queues.logic.schedules.declared import declared
from queues.logic.storable import json_refusal

NAME = re.compile(r"[-_a-z][-_a-z0-9]*\Z", re.IGNORECASE)
VERSION = re.compile(r"\d+\.\d+\.\d+([-+].*)?\Z", re.ASCII)
TYPES = {
    "integer": int,
    "int": int,
    "number": (int, float),
    "boolean": bool,
    "bool": bool,
    "string": str,
    "password": str,
    "json": object,
}
MISSING = "is required"
TEXTS = ("title", "description")
LONGEST = {"name": 128, "version": 64, "title": 255, "path": 1024}
DEFAULTS = ("back_off", "max_failures", "repeat_times", "repeat_until", "repeat_delay", "timeout")
KNOWN = {"name", "version", "description", "scripts", "configuration", "author", "license"} | {
    "keywords",
    "lib",
    "schedules",
}
OF_A_SCRIPT = ("path", "schema", "record_start", "threads", "limits", *TEXTS, *DEFAULTS)
MOST_THREADS = 256


@dataclass(frozen=True)
class ScriptEntry:
    name: str
    path: str
    title: str
    description: str = ""
    schema: dict[str, Any] | None = None
    defaults: dict[str, Any] = field(default_factory=dict)
    record_start: bool = False
    limits: list[dict[str, Any]] | None = None
    threads: int | None = None  # jobs of it that one process runs at the same time


@dataclass(frozen=True)
class Manifest:
    name: str
    version: str
    description: str
    scripts: dict[str, ScriptEntry]
    configuration: dict[str, dict[str, Any]]
    warnings: list[str]
    schedules: dict[str, dict[str, Any]] = field(default_factory=dict)


def read(value: Any) -> tuple[Manifest | None, list[str]]:
    """Return the manifest, or every reason why it is invalid."""
    if not isinstance(value, Mapping):
        return None, ["the manifest must be an object"]
    refusals = {key: json_refusal([key, part]) for key, part in value.items()}
    errors = [f"{key!r}: {reason}" for key, reason in refusals.items() if reason]
    name = _name(value, errors)
    version = _text(value, "version", errors)
    scripts = _scripts(value, errors)
    configuration = _configuration(value.get("configuration", {}), errors)
    description = _text(value, "description", errors, needed=False)
    schedules = declared(value.get("schedules", {}), scripts, errors)
    if errors:
        return None, errors
    warnings = _warnings(value, version)
    return Manifest(name, version, description, scripts, configuration, warnings, schedules), []


def well_formed_scripts(value: Any) -> list[ScriptEntry]:
    """Return the scripts without an error of their own, whatever else is wrong."""
    return list(_scripts(value, []).values()) if isinstance(value, Mapping) else []


def filled_up(
    definitions: Mapping[str, Mapping[str, Any]], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values, and the defaults of the other options."""
    defaults = {name: each["default"] for name, each in definitions.items() if "default" in each}
    return {**defaults, **values}


def missing_options(
    definitions: Mapping[str, Mapping[str, Any]], values: Mapping[str, Any]
) -> list[str]:
    """Return the required options that have neither a value nor a default."""
    wrong = configuration_errors(definitions, values)
    return sorted(name for name, reason in wrong.items() if reason == MISSING)


def still_valid(
    definitions: Mapping[str, Mapping[str, Any]], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values that fit another manifest; the others are of options that are gone."""
    wrong = configuration_errors(definitions, values)
    return {name: value for name, value in values.items() if name not in wrong}


def configuration_errors(
    definitions: Mapping[str, Mapping[str, Any]], values: Mapping[str, Any]
) -> dict[str, str]:
    """Return what is wrong with a value, by option."""
    wrong = {name: "is not allowed" for name in values if name not in definitions}
    for name, definition in definitions.items():
        value = values.get(name, definition.get("default"))
        if value is None and definition.get("required", True):
            wrong[name] = MISSING
        elif value is not None and not _is_of(value, definition["type"]):
            wrong[name] = f"must be of type {definition['type']}"
    return wrong


def _name(value: Mapping[str, Any], errors: list[str]) -> str:
    name = _text(value, "name", errors)
    if name and not NAME.match(name):
        errors.append(f"name has letters, digits, - and _ and begins with no digit: {name!r}")
    return name


def _text(value: Mapping[str, Any], key: str, errors: list[str], *, needed: bool = True) -> str:
    text = value.get(key, "")
    if not isinstance(text, str) or (needed and not text):
        errors.append(f"{key} must be a text")
        return ""
    errors.extend(_too_long(key, text))
    return text


def _too_long(key: str, text: Any) -> list[str]:
    is_too_long = isinstance(text, str) and len(text) > LONGEST.get(key, len(text))
    return [f"{key} has at most {LONGEST[key]} characters"] if is_too_long else []


def _scripts(manifest: Mapping[str, Any], errors: list[str]) -> dict[str, ScriptEntry]:
    value = manifest.get("scripts", {})
    if not isinstance(value, Mapping):
        errors.append("scripts must be an object")
        return {}
    lib = manifest.get("lib", ".")
    if not isinstance(lib, str) or not _stays_inside(lib):
        errors.append(f"lib must be a folder inside the service: {lib!r}")
        return {}
    scripts = {}
    for name, entry in value.items():
        script = _script(str(name), entry, errors)
        if script is not None:
            scripts[str(name)] = replace(script, path=normpath(join(lib, script.path)))
    return scripts


def _script(name: str, entry: Any, errors: list[str]) -> ScriptEntry | None:
    entry = {"path": entry} if isinstance(entry, str) else entry
    before = len(errors)
    if not name or len(name) > 128:
        errors.append("a script needs a name of 1 to 128 characters")
    if not isinstance(entry, Mapping):
        errors.append(f"script {name}: must be a path or an object with a path")
        return None
    errors.extend(f"script {name}: unknown field {key}" for key in entry if key not in OF_A_SCRIPT)
    errors.extend(f"script {name}: {reason}" for reason in _path_errors(entry.get("path")))
    errors.extend(
        f"script {name}: {key} must be a text"
        for key in TEXTS
        if not isinstance(entry.get(key, ""), str)
    )
    errors.extend(
        f"script {name}: {reason}"
        for key in ("title", "path")
        for reason in _too_long(key, entry.get(key))
    )
    if not isinstance(entry.get("schema", {}), Mapping):
        errors.append(f"script {name}: schema must be an object")
    if not isinstance(entry.get("record_start", False), bool):
        errors.append(f"script {name}: record_start must be true or false")
    if type(threads := entry.get("threads", 1)) is not int or not 1 <= threads <= MOST_THREADS:
        errors.append(f"script {name}: threads must be a number from 1 to {MOST_THREADS}")
    elif threads > 1 and entry.get("record_start"):
        errors.append(f"script {name}: threads and record_start exclude each other")
    limits = _limits(name, entry, errors)
    defaults = {key: entry[key] for key in DEFAULTS if key in entry}
    errors.extend(f"script {name}: {reason}" for reason in default_errors(defaults))
    if len(errors) > before:
        return None
    return ScriptEntry(
        name,
        entry["path"],
        entry.get("title") or title(name),
        entry.get("description", ""),
        dict(entry["schema"]) if "schema" in entry else None,
        defaults,
        entry.get("record_start", False),
        limits,
        entry.get("threads"),
    )


def _limits(name: str, entry: Mapping[str, Any], errors: list[str]) -> list[dict[str, Any]] | None:
    try:
        return stored(parsed(entry.get("limits")))
    except BadLimit as error:
        errors.append(f"script {name}: {error}")
        return None


def default_errors(defaults: Mapping[str, Any]) -> list[str]:
    """Return push options that a manifest or a script dict must not give, or gives wrongly."""
    errors = [f"{key} belongs to a push" for key in defaults if key in PUSH_ONLY]
    for key, value in defaults.items():
        try:
            resolve(datetime(2000, 1, 1, tzinfo=UTC), {key: value})
        except BadOption as error:
            errors.append(str(error))
    return errors


def _path_errors(path: Any) -> list[str]:
    if not isinstance(path, str) or not path:
        return ["path must be a text"]
    if not _stays_inside(path):
        return [f"path must stay inside the service: {path!r}"]
    if not path.endswith(".py"):
        return [f"path must be a Python file: {path!r}"]
    return []


def _stays_inside(path: str) -> bool:
    parts = path.split("/")
    return not (path.startswith("/") or "\\" in path or ".." in parts or "\x00" in path)


def _configuration(value: Any, errors: list[str]) -> dict[str, dict[str, Any]]:
    if not isinstance(value, Mapping):
        errors.append("configuration must be an object")
        return {}
    definitions = {}
    for name, definition in value.items():
        kind = definition.get("type", "string") if isinstance(definition, Mapping) else None
        if not isinstance(kind, str) or kind not in TYPES:
            errors.append(f"configuration {name}: type must be one of {', '.join(TYPES)}")
            continue
        definitions[str(name)] = {"type": "string", "required": True, **definition}
        default = definition.get("default")
        if default is not None and not _is_of(default, kind):
            errors.append(f"configuration {name}: default must be of type {kind}")
    return definitions


def _is_of(value: Any, kind: str) -> bool:
    expected = TYPES[kind]
    if isinstance(value, bool) and kind not in {"boolean", "bool", "json"}:
        return False
    return isinstance(value, expected)  # type: ignore[arg-type]


def _warnings(value: Mapping[str, Any], version: str) -> list[str]:
    warnings = [f"unknown field {key}" for key in value if key not in KNOWN]
    if not VERSION.match(version):
        warnings.append(f"version is not semantic: {version}")
    return warnings
