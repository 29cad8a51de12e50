"""Bring schedules into line with what a manifest or `@task` says, and tell the difference.

A schedule remembers what the code said. What a person has changed since stays and is named as a
conflict; a pause is no field of the manifest and always stays.
"""

from collections.abc import Mapping
from typing import Any

from django.db.transaction import atomic, set_rollback

from atributo_site.core.events import record
from queues.functions.declaration import all_declared
from queues.functions.modules import load, may_declare
from queues.logic.schedules.declared import Difference, merged
from queues.models import Schedule
from queues.schedules import operations

DEFAULTS: dict[str, Any] = {
    "data": None,
    "queue": "default",
    "options": {},
    "zone": "UTC",
    "starts_at": None,
    "ends_at": None,
    "most_runs": None,
    "jitter": 0,
    "overlap": "skip",
    "catch_up": 3_600_000,
    "grace": 60_000,
    "pause_after_failures": None,
}


def name_of(mount: str, name: str) -> str:
    """Return the name of a service's schedule, such as mailer.nightly."""
    return f"{mount.strip('/').replace('/', '.')}.{name}"


def reconcile(mount: str, manifest: Mapping[str, Mapping[str, Any]]) -> Difference:
    """Create, change and delete schedules of a service, in the caller's transaction."""
    difference = Difference()
    wanted = {name_of(mount, name): _given(mount, entry) for name, entry in manifest.items()}
    present = {each.name: each for each in Schedule.objects.filter(service=mount)}
    for name, given in wanted.items():
        if name in present:
            _change(present[name], given, difference)
        else:
            made = operations.create(name, **given)
            _remember(made, mount)
            difference.added.append(name)
    for name, schedule in present.items():
        if name not in wanted:
            _remove(schedule, difference)
    return difference


def deploy(*, preview: bool = False) -> dict[str, Difference]:
    """Reconcile the schedules of all declared functions; return what changed, by module.

    A module that cannot be read now keeps its schedules. A preview stores nothing.
    """
    failed = load()
    with atomic():
        differences = {
            module: reconcile(module, entries)
            for module, entries in sorted(_of_modules().items())
            if module not in failed
        }
        changed = {module: each for module, each in differences.items() if each.facts()}
        for module, difference in changed.items():
            facts: dict[str, Any] = difference.facts()
            record("schedule.deployed", f"service:{module}", **facts)
        if preview:
            set_rollback(True)
    return changed


def _of_modules() -> dict[str, dict[str, dict[str, Any]]]:
    """Return what functions declare by module; nothing for one that declares none any more."""
    before = Schedule.objects.exclude(service="").exclude(service__startswith="/")
    found: dict[str, dict[str, dict[str, Any]]] = {
        module: {} for module in before.values_list("service", flat=True)
    }
    for function in all_declared():
        if function.schedules and may_declare(function.module):
            found.setdefault(function.module, {}).update(function.schedules)
    return found


def _given(mount: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**DEFAULTS, **entry, "script": {"mount": mount, "name": entry["script"]}}


def _change(schedule: Schedule, given: dict[str, Any], difference: Difference) -> None:
    """Compare what the new manifest means, as it would be stored, with what the old one meant."""
    before = operations.as_given(schedule)
    old = schedule.declared or before
    # An interval that stays the same keeps its anchor.
    drafted = Schedule(name=schedule.name, created_at=schedule.created_at, rule=old["rule"])
    new = operations.as_given(operations.drafted(drafted, given, schedule.created_at))
    fields, conflicts = merged(old, new, before)
    difference.conflicts += [f"{schedule.name}: {field}" for field in conflicts]
    if fields and operations.change(schedule.name, **fields):
        difference.changed.append(schedule.name)
    Schedule.objects.filter(pk=schedule.pk).update(declared=new)


def _remove(schedule: Schedule, difference: Difference) -> None:
    """Delete what the manifest no longer has, unless a person has changed it."""
    if operations.as_given(schedule) == schedule.declared:
        operations.delete(schedule.name)
        difference.removed.append(schedule.name)
        return
    Schedule.objects.filter(pk=schedule.pk).update(service="", declared=None)
    difference.conflicts.append(f"{schedule.name}: no longer in the manifest, but changed by hand")


def _remember(schedule: Schedule, mount: str) -> None:
    stored = operations.row(schedule.name)
    columns = {"service": mount, "declared": operations.as_given(stored)}
    Schedule.objects.filter(pk=schedule.pk).update(**columns)
