"""Find scripts and load them, in the child process that runs them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from inspect import iscoroutinefunction
from json import loads
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from django.db import connection

from atributo_site.core.redaction import secrets_in
from queues.errors import OptionsMissing, ScriptNotFound, ServiceNotFound
from queues.execution.context import Context, ServiceFacts
from queues.execution.packages import Package, leave
from queues.functions.arguments import called
from queues.functions.declaration import Declared, all_declared
from queues.functions.modules import find, load
from queues.logic.manifest import filled_up, missing_options
from queues.logic.mounts import is_module
from queues.logic.secret_fields import passwords_of
from queues.sql.queues import SCRIPTS_OF, SERVICE_AT
from queues.tasks import library

LIFECYCLE = ("setup", "teardown")


class ScriptFacts(NamedTuple):
    path: str  # of its file in the folder of the service
    schema: Any
    defaults: dict[str, Any]  # the options of its jobs


@dataclass
class LoadedService:
    """A service as this process knows it, with the scripts it has read so far."""

    facts: ServiceFacts
    development: bool
    scripts: dict[str, ScriptFacts]
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


class DeclaredFunctions(LoadedService):
    """The declared functions of a module, in the place of a service."""

    def function(self, name: str) -> Callable[..., Any]:
        """Return what calls a declared function with the arguments of a context."""
        leave()  # imports are those of this program
        known = find(self.facts.mount, name)
        return _async_call(known) if iscoroutinefunction(known.function) else _call(known)

    def unload(self) -> None:
        """Keep them: their code is this program's."""


def _call(known: Declared) -> Callable[..., Any]:
    def run(context: Context) -> Any:
        return called(known, _known_to_the_api(context, known), context.argv)

    return run


def _async_call(known: Declared) -> Callable[..., Any]:
    async def run(context: Context) -> Any:
        return await called(known, _known_to_the_api(context, known), context.argv)

    return run


def _known_to_the_api(context: Context, known: Declared) -> Context:
    """Return a context that is one of the Tasks API, too, where that is installed."""
    if not known.takes_context or library.installed() is None:
        return context
    from queues.tasks.running import as_task_context

    return as_task_context(context)


def declared(module: str) -> DeclaredFunctions:
    """Return the functions of a module; it is not imported because a row names it."""
    load()
    facts = ServiceFacts(module, module, "", "")
    known = [each for each in all_declared() if each.module == module]
    scripts = {each.name: ScriptFacts("", each.schema, each.stored_options()) for each in known}
    return DeclaredFunctions(facts, False, scripts)


def loaded(mount: str) -> LoadedService:
    if is_module(mount):
        return declared(mount)
    with connection.cursor() as cursor:
        cursor.execute(SERVICE_AT, {"mount": mount})
        row = cursor.fetchone()
        if row is None:
            raise ServiceNotFound(f"no service is installed at {mount}", mount=mount)
        number, name, version, folder, development, definitions, configuration = row
        cursor.execute(SCRIPTS_OF, {"service": number})
        scripts = {
            script: ScriptFacts(path, _read(schema), _read(defaults))
            for script, path, schema, defaults in cursor.fetchall()
        }
    options, values = _read(definitions), _read(configuration)
    facts = ServiceFacts(mount, name, version, folder, filled_up(options, values))
    missing = missing_options(options, values)
    return LoadedService(facts, bool(development), scripts, passwords_of(options), missing)


def _read(column: str | None) -> Any:
    return None if column is None else loads(column)


def candidate(given: dict[str, Any]) -> LoadedService:
    """Return a service whose setup or teardown runs while it has no row."""
    facts = ServiceFacts(**given["facts"])
    scripts = {name: ScriptFacts(path, None, {}) for name, path in given["scripts"]}
    return LoadedService(facts, False, scripts, given["passwords"])


def _run_of(module: ModuleType, path: str) -> Callable[..., Any]:
    run = getattr(module, "run", None)
    if not callable(run):
        raise ScriptNotFound(f"{path} has no function run(context)", path=path)
    return run
