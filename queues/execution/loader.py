"""Find scripts and load them, in the child process that runs them."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from atributo_site.core.redaction import secrets_in
from queues.errors import OptionsMissing, ScriptNotFound, ServiceNotFound
from queues.execution.context import ServiceFacts
from queues.execution.packages import Package, leave
from queues.logic.secret_fields import passwords_of
from queues.models import Script, Service

LIFECYCLE = ("setup", "teardown")


@dataclass
class LoadedService:
    """A service as this process knows it, with the scripts it has read so far."""

    facts: ServiceFacts
    development: bool
    scripts: dict[str, Script]
    passwords: list[str] = field(default_factory=list)  # names of options that are secret
    missing: list[str] = field(default_factory=list)  # required options without a value
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)

    @cached_property
    def secrets(self) -> set[str]:
        """Return the secrets of its configuration."""
        return secrets_in(self.facts.configuration, self.passwords)

    @cached_property
    def package(self) -> Package:
        return Package(self.facts.mount, Path(self.facts.folder))

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return the script's `run`; None for a lifecycle script that is not defined."""
        script = self.scripts.get(name)
        if script is None:
            if name in LIFECYCLE:
                return None
            raise ScriptNotFound(f"service {self.facts.mount} has no script {name}", script=name)
        if self.missing:
            raise OptionsMissing(self.facts.mount, self.missing)
        self.package.enter(script.path)
        if name not in self.functions:
            self.functions[name] = _run_of(self.package.load(script.path), script.path)
        return self.functions[name]

    def unload(self) -> None:
        """Read every script, and what it imports, anew when it is next called."""
        self.functions.clear()
        self.package.forget()


class Services:
    """The installed services, read when needed and forgotten when one has changed."""

    def __init__(self) -> None:
        self._revision: int | None = None
        self._loaded: dict[str, LoadedService] = {}

    def at(self, mount: str, revision: int) -> LoadedService:
        if revision != self._revision:
            self.unload()
            self._loaded, self._revision = {}, revision
        if mount not in self._loaded:
            self._loaded[mount] = loaded(mount)
        return self._loaded[mount]

    def unload(self) -> None:
        """Read every script anew when it is next called."""
        for service in self._loaded.values():
            service.unload()


def loaded(mount: str) -> LoadedService:
    service = Service.objects.filter(mount=mount).first()
    if service is None:
        raise ServiceNotFound(f"no service is installed at {mount}", mount=mount)
    facts = ServiceFacts(mount, service.name, service.version, service.folder, service.settings())
    scripts = {script.name: script for script in service.scripts.all()}
    passwords = passwords_of(service.definitions)
    return LoadedService(facts, service.development, scripts, passwords, service.missing_options)


def candidate(given: dict[str, Any]) -> LoadedService:
    """Return a service whose setup or teardown runs while it has no row."""
    facts = ServiceFacts(**given["facts"])
    scripts = {name: Script(**row) for name, row in given["scripts"]}
    return LoadedService(facts, False, scripts, given["passwords"])


def _run_of(module: ModuleType, path: str) -> Callable[..., Any]:
    run = getattr(module, "run", None)
    if not callable(run):
        raise ScriptNotFound(f"{path} has no function run(context)", path=path)
    return run


def imported(path: str) -> Callable[..., Any]:
    """Return a module-level function that the Python API stored as `module:name`."""
    leave()
    module_name, _, name = path.partition(":")
    function = getattr(importlib.import_module(module_name), name, None)
    if not callable(function) or not name.isidentifier():
        raise ScriptNotFound(f"there is no function {path}", function=path)
    return function
