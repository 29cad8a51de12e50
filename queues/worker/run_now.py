"""Run a script now: at a worker, or for a command in a child of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.conf import settings

from queues.children.child_process import Workhorse
from queues.errors import OptionsMissing
from queues.execution.loader import LIFECYCLE, loaded
from queues.functions.arguments import of_data
from queues.functions.modules import find
from queues.jobs.push_request import json_text
from queues.logic.mounts import is_module
from queues.logic.secret_fields import passwords_of
from queues.models import Catalogue, Script, Service
from queues.schema.validation import check
from queues.worker.script_follower import ScriptResult, follow
from queues.worker.script_runs import at_worker

__all__ = ["ScriptResult", "in_a_child", "run_candidate", "run_script"]

_way: ContextVar[Callable[..., ScriptResult]] = ContextVar("way", default=at_worker)


@contextmanager
def in_a_child(*, fork: bool = False) -> Iterator[None]:
    """Let commands run scripts in a child of this process, so that no worker is needed.

    A web process never does this: scripts must not see its key and its threads.
    """

    def run(work: dict[str, Any], *, whole: bool = False) -> ScriptResult:
        workhorse = Workhorse(settings.ATRIBUTO.worker_memory_mb, fork=fork)
        try:
            return follow(workhorse, work)
        finally:
            workhorse.close()

    reset = _way.set(run)
    try:
        yield
    finally:
        _way.reset(reset)


def run_script(mount: str, name: str, data: Any = None, *, dry_run: bool = False) -> ScriptResult:
    """Check the data by the script's schema and run it; ScriptFailed with its status code.

    A dry run executes it, too, and then rolls back what it wrote and pushed.
    """
    service = loaded(mount)
    script = service.scripts.get(name)
    if script is None and name not in LIFECYCLE:
        service.function(name)  # raises ScriptNotFound
    if script is None:
        return ScriptResult()
    if service.missing:
        raise OptionsMissing(mount, service.missing)
    if is_module(mount):
        data = of_data(find(mount, name), data)
    checked = check(script.schema, data)
    timeout_ms = script.defaults.get("timeout", settings.ATRIBUTO.script_timeout_ms)
    return _way.get()({**_work(mount, name, checked, timeout_ms), "dry_run": dry_run})


def run_candidate(service: Service, scripts: list[Script], name: str) -> ScriptResult:
    """Run `setup` or `teardown` of a service that is not stored as it is given here."""
    if name not in {script.name for script in scripts}:
        return ScriptResult()
    if service.missing_options:
        raise OptionsMissing(service.mount, service.missing_options)
    facts = {
        "mount": service.mount,
        "name": service.name,
        "version": service.version,
        "folder": service.folder,
        "configuration": service.settings(),
    }
    rows = [(script.name, script.path) for script in scripts]
    given = {"facts": facts, "scripts": rows, "passwords": passwords_of(service.definitions)}
    work = _work(service.mount, name, None, settings.ATRIBUTO.script_timeout_ms)
    return _way.get()({**work, "candidate": given}, whole=True)


def _work(mount: str, name: str, data: Any, timeout_ms: float) -> dict[str, Any]:
    revision = Catalogue.objects.values_list("revision", flat=True).first() or 0
    return {
        "mount": mount,
        "script": name,
        "data": None if data is None else json_text(data),
        "run_failures": 0,
        "back_off": None,
        "revision": revision,
        "job": None,
        "timeout_ms": timeout_ms,
    }
