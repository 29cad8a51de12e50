"""Schedules as a service's manifest declares them, and what another manifest changes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from queues.logic.schedules.errors import BadRule
from queues.logic.schedules.rule import read

MOST = 200
LONGEST_NAME = 64
ANY_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)


def declared(value: Any, scripts: Collection[str], errors: list[str]) -> dict[str, dict[str, Any]]:
    """Return the schedules of a manifest by name; add what is wrong with them to the errors."""
    if not isinstance(value, Mapping) or len(value) > MOST:
        errors.append(f"schedules must be an object with at most {MOST} members")
        return {}
    for name, entry in value.items():
        errors.extend(f"schedule {name}: {reason}" for reason in _refusals(name, entry, scripts))
    return {str(name): dict(entry) for name, entry in value.items() if isinstance(entry, Mapping)}


def _refusals(name: Any, entry: Any, scripts: Collection[str]) -> list[str]:
    if not isinstance(entry, Mapping):
        return ["must be an object with script and rule"]
    found = []
    if not 0 < len(name) <= LONGEST_NAME or "/" in name or not name.isprintable():
        found.append(f"a name has 1 to {LONGEST_NAME} characters without /")
    if entry.get("script") not in scripts:
        found.append("script must name a script of this manifest")
    try:
        read(_in_milliseconds(entry.get("rule")), entry.get("zone", "UTC"), anchor=ANY_MOMENT)
    except BadRule as error:
        found.append(str(error))
    return found


def _in_milliseconds(rule: Any) -> Any:
    """Leave a span such as 90m to whoever stores the rule, which reads it."""
    if isinstance(rule, Mapping) and isinstance(rule.get("every"), str):
        return {**rule, "every": 1000}
    return rule


@dataclass
class Difference:
    """What an install changes, and what people had changed and therefore stays."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, list[str]]:
        return {name: values for name, values in vars(self).items() if values}


def merged(
    old: Mapping[str, Any], new: Mapping[str, Any], present: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the fields to set, and those that a person changed as well: these stay."""
    wanted: dict[str, Any] = {}
    conflicts = []
    for name in sorted({*old, *new}):
        if old.get(name) == new.get(name):
            continue
        if present.get(name) == old.get(name) or name not in old:
            wanted[name] = new.get(name)
        elif present.get(name) != new.get(name):
            conflicts.append(name)
    return wanted, conflicts
