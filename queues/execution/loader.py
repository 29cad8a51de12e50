"""Find scripts and load them, in the child process that runs them."""

import importlib
import importlib.util
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from django.conf import settings

from atributo_site.core.redaction import secrets_in
from queues.errors import ScriptNotFound, ServiceNotFound
from queues.execution.context import ServiceFacts
from queues.logic.secret_fields import passwords_of
from queues.models import Script, Service
from queues.sandbox.trust import on_the_way

LIFECYCLE = ("setup", "teardown")
_numbers = itertools.count()


@dataclass
class LoadedService:
    """A service as this process knows it, with the scripts it has read so far."""

    facts: ServiceFacts
    development: bool
    scripts: dict[str, Script]
    passwords: list[str] = field(default_factory=list)  # names of options that are secret
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)

    @cached_property
    def secrets(self) -> set[str]:
        """Return the secrets of its configuration."""
        return secrets_in(self.facts.configuration, self.passwords)

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return the script's `run`; None for a lifecycle script that is not defined."""
        if name in self.functions and not self.development:
            return self.functions[name]
        script = self.scripts.get(name)
        if script is None:
            if name in LIFECYCLE:
                return None
            raise ScriptNotFound(f"service {self.facts.mount} has no script {name}", script=name)
        self.functions[name] = load(Path(self.facts.folder), script.path)
        return self.functions[name]


class Services:
    """The installed services, read when needed and forgotten when one has changed."""

    def __init__(self) -> None:
        self._revision: int | None = None
        self._loaded: dict[str, LoadedService] = {}

    def at(self, mount: str, revision: int) -> LoadedService:
        if revision != self._revision:
            self._loaded, self._revision = {}, revision
        if mount not in self._loaded:
            self._loaded[mount] = loaded(mount)
        return self._loaded[mount]

    def unload(self) -> None:
        """Read every script anew when it is next called."""
        for service in self._loaded.values():
            service.functions.clear()


def loaded(mount: str) -> LoadedService:
    service = Service.objects.filter(mount=mount).first()
    if service is None:
        raise ServiceNotFound(f"no service is installed at {mount}", mount=mount)
    facts = ServiceFacts(mount, service.name, service.version, service.folder, service.settings())
    scripts = {script.name: script for script in service.scripts.all()}
    return LoadedService(facts, service.development, scripts, passwords_of(service.definitions))


def candidate(given: dict[str, Any]) -> LoadedService:
    """Return a service whose setup or teardown runs while it has no row."""
    facts = ServiceFacts(**given["facts"])
    scripts = {name: Script(**row) for name, row in given["scripts"]}
    return LoadedService(facts, False, scripts, given["passwords"])


def load(folder: Path, path: str) -> Callable[..., Any]:
    """Return the function `run` of a file below one of the service roots."""
    file = inside(folder, path)
    spec = importlib.util.spec_from_file_location(f"atributo_script_{next(_numbers)}", file)
    if spec is None or spec.loader is None:
        raise ScriptNotFound(f"{path} is no Python file", path=path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return _run_of(module, path)


def _run_of(module: ModuleType, path: str) -> Callable[..., Any]:
    run = getattr(module, "run", None)
    if not callable(run):
        raise ScriptNotFound(f"{path} has no function run(context)", path=path)
    return run


def inside(folder: Path, path: str) -> Path:
    """Return the file; refuse it if it or its folder is not below a root, links followed."""
    roots = [Path(root).resolve() for root in settings.ATRIBUTO.service_roots]
    file = (folder / path).resolve()
    root = next((root for root in roots if file.is_relative_to(root)), None)
    if root is None:
        raise ScriptNotFound(f"{path} is outside the service roots", path=path)
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        raise ScriptNotFound(f"{path} is no file of the service", path=path)
    for place, reason in on_the_way(root, file):
        name = path if place == file else place
        raise ScriptNotFound(f"{name} {reason}", path=path)
    return file


def imported(path: str) -> Callable[..., Any]:
    """Return a module-level function that the Python API stored as `module:name`."""
    module_name, _, name = path.partition(":")
    function = getattr(importlib.import_module(module_name), name, None)
    if not callable(function) or not name.isidentifier():
        raise ScriptNotFound(f"there is no function {path}", function=path)
    return function
