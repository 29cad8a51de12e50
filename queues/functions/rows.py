"""Show declared functions as services: a row per module and one per function.

The rows are for screens, REST and commands. What may be called is decided by the declarations.
"""

from itertools import groupby
from typing import Any

import structlog
from django.db import DatabaseError, IntegrityError, connection
from django.db.models import F, Q
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.core.retry import retry_busy
from queues.functions.declaration import Declared, all_declared
from queues.functions.modules import load, may_declare
from queues.models import Catalogue, Script, Service

log = structlog.get_logger(__name__)
NAME = "functions"
FIELDS = ("name", "title", "description", "schema", "defaults", "record_start", "threads")


def store_all() -> list[str]:
    """Make the rows say what is declared now; return the modules whose rows were changed."""
    load()
    known = {module: each for module, each in _by_module().items() if may_declare(module)}
    changed = [module for module, each in known.items() if _store(module, each)]
    return changed + _remove_others(set(known))


def store_at_start() -> None:
    """Load the modules and make the rows, if the database lets us: jobs run without them, too."""
    load()
    try:
        retry_busy(store_all, repeatable=True)
    except (DatabaseError, AtributoError) as error:
        log.warning("functions_not_shown", error=str(error))


def store_module(module: str) -> bool:
    """Make the rows of a module that has none yet, though no worker has started since.

    Not within a transaction of the caller: that would keep others waiting until it ends.
    """
    if connection.in_atomic_block:
        return False
    load()
    return _store(module, _by_module().get(module, []))


def _by_module() -> dict[str, list[Declared]]:
    return {name: list(each) for name, each in groupby(all_declared(), lambda one: one.module)}


def _store(module: str, known: list[Declared]) -> bool:
    service = Service.objects.filter(mount=module).prefetch_related("scripts").first()
    wanted = [_fields(each) for each in known]
    if service is not None and [_as_it_is(each) for each in service.scripts.all()] == wanted:
        return False
    try:
        with atomic():
            _replace(service, module, wanted)
    except IntegrityError:  # another process does the same
        return False
    return True


def _replace(service: Service | None, module: str, wanted: list[dict[str, Any]]) -> None:
    if service is None:
        service = Service.objects.create(mount=module, folder="", name=NAME, version="")
    Service.objects.filter(pk=service.pk).update(revision=F("revision") + 1, changed_at=Now())
    before = {script.name: script for script in service.scripts.exclude(limits_by="")}
    service.scripts.all().delete()
    scripts = [Script(service=service, path="", **each) for each in wanted]
    for script in scripts:
        if script.name in before:
            script.keep(before[script.name])
    Script.objects.bulk_create(scripts)
    Catalogue.objects.changed()
    names = [each["name"] for each in wanted]
    record("service.declared", f"service:{module}", functions=names[:100])


def _remove_others(kept: set[str]) -> list[str]:
    """Remove modules that declare nothing any more; one that cannot be read now keeps its rows."""
    failed = load()
    gone = Service.objects.filter(~Q(mount__startswith="/")).exclude(mount__in=[*kept, *failed])
    names = list(gone.values_list("mount", flat=True))
    if names:
        with atomic():
            gone.filter(mount__in=names).delete()
            Catalogue.objects.changed()
            for name in names:
                record("service.undeclared", f"service:{name}")
    return names


def _fields(known: Declared) -> dict[str, Any]:
    return {
        "name": known.name,
        "title": known.title,
        "description": known.description,
        "schema": known.schema,
        "defaults": known.stored_options(),
        "record_start": known.record_start,
        "threads": known.threads,
    }


def _as_it_is(script: Script) -> dict[str, Any]:
    return {name: getattr(script, name) for name in FIELDS}
