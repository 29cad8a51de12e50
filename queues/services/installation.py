"""Install, upgrade, replace, uninstall and configure services."""

from collections.abc import Sequence
from typing import Any

import structlog
from django.db import IntegrityError
from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from atributo_site.core.events import record
from atributo_site.core.redaction import unmasked
from queues.errors import (
    BadMount,
    BadService,
    LifecycleScriptFailed,
    MountTaken,
    OptionsMissing,
    ScriptFailed,
    ServiceNotFound,
)
from queues.functions.rows import store_all
from queues.logic.manifest import MISSING, configuration_errors, still_valid
from queues.logic.mounts import is_module, mount_error
from queues.logic.storable import json_refusal
from queues.models import Catalogue, QueuedJob, Script, Service
from queues.queries.presenters import configuration_dict
from queues.runs.held_jobs import wait_for_workers
from queues.schedules import as_code
from queues.services import script_limits
from queues.services.bundle import Bundle, opened
from queues.worker.run_now import run_candidate

MOST_WARNINGS = 20
log = structlog.get_logger(__name__)


def install(
    folder: str,
    mount: str,
    *,
    configuration: dict[str, Any] | None = None,
    setup: bool = True,
    development: bool = False,
    force: bool = False,
) -> Service:
    """Install at a free mount; a setup that fails leaves nothing behind unless forced."""
    check_mount(mount)
    bundle = opened(folder)
    if Service.objects.filter(mount=mount).exists():
        raise MountTaken(f"a service is installed at {mount}", mount=mount)
    service = Service(mount=mount, development=development)
    _fill(service, bundle, configuration or {})
    ran = _run(service, bundle.scripts(service), "setup", warn=force) if setup else {}
    try:
        return _store(service, bundle, "service.installed", ran)
    except IntegrityError as error:  # another process was faster
        raise MountTaken(f"a service is installed at {mount}", mount=mount) from error


def upgrade(
    folder: str,
    mount: str,
    *,
    configuration: dict[str, Any] | None = None,
    setup: bool = True,
    teardown: bool = False,
    force: bool = False,
) -> Service:
    """Keep configuration and development mode; failing scripts only give a warning.

    Values of options that the new manifest lacks, or that have another type there, are discarded.
    """
    refuse_functions(mount)
    service = _existing(mount, force)
    if service is None:
        return install(folder, mount, configuration=configuration, setup=setup, force=True)
    bundle, old = opened(folder), service.configuration
    kept = still_valid(bundle.manifest.configuration, old)
    merged = {**kept, **_as_meant(service, configuration or {})}
    gone = sorted(old.keys() - merged.keys())
    return _exchange(service, bundle, merged, setup, teardown, "service.upgraded", gone)


def replace(
    folder: str,
    mount: str,
    *,
    configuration: dict[str, Any] | None = None,
    setup: bool = True,
    teardown: bool = True,
    force: bool = False,
) -> Service:
    """Uninstall and install: nothing of the old configuration stays."""
    refuse_functions(mount)
    service = _existing(mount, force)
    if service is None:
        return install(folder, mount, configuration=configuration, setup=setup, force=True)
    service.development = False
    given = _as_meant(service, configuration or {})
    return _exchange(service, opened(folder), given, setup, teardown, "service.replaced")


def uninstall(mount: str, *, teardown: bool = True, force: bool = False) -> bool:
    """Remove a service; a teardown that fails keeps it unless forced."""
    refuse_functions(mount)
    service = Service.objects.filter(mount=mount).first()
    if service is None:
        if force:
            return False
        raise missing(mount)
    if teardown:
        _run(service, list(service.scripts.all()), "teardown", warn=force)
    with atomic():
        as_code.reconcile(mount, {})
        service.delete()
        Catalogue.objects.changed()
        record("service.uninstalled", f"service:{mount}")
        _wait_for_old_runs(mount)
    return True


def configure(mount: str, values: dict[str, Any], *, whole: bool = False) -> Service:
    """Change some options, or with `whole` all of them; a secret given as its mask stays."""
    service = service_at(mount)
    values = _as_meant(service, values)
    service.configuration = values if whole else {**service.configuration, **values}
    _check_configuration(service)
    with atomic():
        _touch(service, configuration=service.configuration)
        record("service.configured", f"service:{mount}", options=sorted(values))
    return service_at(mount)


def set_development(mount: str, on: bool) -> Service:
    """In development mode every run reads the script anew, after the setup."""
    refuse_functions(mount)
    service = service_at(mount)
    with atomic():
        _touch(service, development=on)
        record("service.development", f"service:{mount}", on=on)
    return service_at(mount)


def refresh() -> list[str]:
    """Show the functions that are declared now; return the modules that changed."""
    return store_all()


def refuse_functions(mount: str) -> None:
    """Refuse what only a folder can have done to it."""
    if is_module(mount) and Service.objects.filter(mount=mount).exists():
        raise BadMount(
            f"{mount} is a module of declared functions: change its code, and restart the workers",
            mount=mount,
        )


def service_at(mount: str | None) -> Service:
    service = Service.objects.filter(mount=mount).first() if mount else None
    if service is None:
        raise missing(mount or "")
    return service


def missing(mount: str) -> ServiceNotFound:
    return ServiceNotFound(f"no service is installed at {mount or '(no mount given)'}", mount=mount)


def check_mount(mount: str) -> None:
    if reason := mount_error(mount):
        raise BadMount(reason, mount=mount)


def warnings_of(service: Service) -> dict[str, str]:
    """Return what the configuration lacks, by option."""
    return configuration_errors(service.definitions, service.configuration)


def _as_meant(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    """Keep the value of a secret that is given as it was displayed, masked."""
    return unmasked(given, service.settings(), configuration_dict(service))


def _existing(mount: str, force: bool) -> Service | None:
    """Return the service; None only where it may be missing."""
    service = Service.objects.filter(mount=mount).first()
    if service is None and not force:
        raise missing(mount)
    return service


def _exchange(
    service: Service,
    bundle: Bundle,
    configuration: dict[str, Any],
    setup: bool,
    teardown: bool,
    kind: str,
    discarded: Sequence[str] = (),
) -> Service:
    """Replace the old service; the new folder was checked before."""
    facts: dict[str, Any] = {"discarded": list(discarded)} if discarded else {}
    old = list(service.scripts.all())
    ran = facts | (_run(service, old, "teardown", warn=True) if teardown else {})
    _fill(service, bundle, configuration)
    if setup:
        ran |= _run(service, bundle.scripts(service), "setup", warn=True)
    return _store(service, bundle, kind, ran)


def _fill(service: Service, bundle: Bundle, configuration: dict[str, Any]) -> None:
    bundle.fill(service)
    service.configuration = configuration
    _check_configuration(service)


def _check_configuration(service: Service) -> None:
    wrong = {k: v for k, v in warnings_of(service).items() if v != MISSING}
    if reason := json_refusal(service.configuration):
        raise BadService(f"the configuration cannot be stored: {reason}", errors=[reason])
    if wrong:
        reasons = [f"configuration {name} {reason}" for name, reason in wrong.items()]
        raise BadService("; ".join(reasons), errors=reasons)


def _store(service: Service, bundle: Bundle, kind: str, ran: dict[str, Any]) -> Service:
    with atomic():
        service.changed_at = Now()
        service.save()
        scripts = bundle.scripts(service)
        ran |= script_limits.carried_over(service.scripts.all(), scripts)
        service.scripts.all().delete()
        Script.objects.bulk_create(scripts)
        Service.objects.filter(pk=service.pk).update(revision=F("revision") + 1)
        Catalogue.objects.changed()
        facts: dict[str, Any] = {"version": service.version, "folder": service.folder}
        facts |= _remarks(bundle) | ran
        difference = as_code.reconcile(service.mount, bundle.manifest.schedules).facts()
        facts |= {"schedules": difference} if difference else {}
        record(kind, f"service:{service.mount}", **facts)
        _wait_for_old_runs(service.mount)
    service.refresh_from_db()
    return service


def _wait_for_old_runs(mount: str) -> None:
    """Wait for jobs that workers hold: they have read with them which scripts there are."""
    jobs = QueuedJob.objects.filter(mount=mount)
    after_commit(lambda: wait_for_workers(jobs))


def _remarks(bundle: Bundle) -> dict[str, list[str]]:
    """Return what is odd about the manifest, but no error."""
    warnings = bundle.manifest.warnings[:MOST_WARNINGS]
    if warnings:
        log.warning("manifest_is_odd", folder=str(bundle.folder), warnings=warnings)
    return {"warnings": warnings} if warnings else {}


def _touch(service: Service, **changes: Any) -> None:
    Service.objects.filter(pk=service.pk).update(
        revision=F("revision") + 1, changed_at=Now(), **changes
    )
    Catalogue.objects.changed()


def _run(service: Service, scripts: list[Script], name: str, *, warn: bool) -> dict[str, str]:
    """Return how it ended, as a fact of the event; nothing where there is no such script."""
    if name not in {script.name for script in scripts}:
        return {}
    try:
        run_candidate(service, scripts, name)
    except (OptionsMissing, ScriptFailed) as error:
        if not warn:
            raise LifecycleScriptFailed(
                f"{name} of {service.mount} failed: {error}", **error.facts
            ) from error
        log.warning("lifecycle_script_failed", mount=service.mount, script=name, error=str(error))
        record("service.script_failed", f"service:{service.mount}", script=name, error=str(error))
        return {name: "failed"}
    return {name: "complete"}
