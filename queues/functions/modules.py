"""Which modules may declare functions, and loading them.

They are the modules of the setting, and `tasks` of each installed app with what lies below it.
Workers load the same ones, so whatever may be pushed here is known there.
"""

import importlib
import pkgutil
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from inspect import isfunction
from types import ModuleType
from typing import Any

import structlog
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from queues.errors import BadPush, ScriptNotFound
from queues.functions.declaration import Declared, bare, declare, forget, is_declared, lookup

OURS = ("allocation", "queues", "pools", "atributo_site")
DISCOVERED = "tasks"
log = structlog.get_logger(__name__)

_lock = threading.RLock()
_loaded: set[str] = set()
_failures: dict[str, str] = {}


def may_declare(module: str) -> bool:
    """Return whether workers load this module."""
    return module in listed() or any(
        module == each or module.startswith(f"{each}.") for each in discovered()
    )


def listed() -> tuple[str, ...]:
    """Return the modules of the setting: each public function of theirs is declared."""
    return tuple(settings.ATRIBUTO.task_modules)


def discovered() -> list[str]:
    names = [config.name for config in apps.get_app_configs()]
    return [f"{name}.{DISCOVERED}" for name in names if name.partition(".")[0] not in OURS]


def load() -> dict[str, str]:
    """Load what has not been loaded yet; return why modules could not be, by name."""
    with _lock:
        for name in (*listed(), *discovered()):
            if name not in _loaded:
                _loaded.add(name)
                _load_with_parts(name)
        return dict(_failures)


def find(module: str, name: str) -> Declared:
    """Return a declared function, or raise ScriptNotFound with what is the matter."""
    known = lookup(module, name)
    if known is None:
        load()
        known = lookup(module, name)
    if known is None:
        raise ScriptNotFound(_missing(module, name), script=name)
    return known


def to_push(given: object) -> Declared:
    """Return the declaration of a function that workers know, or raise BadPush."""
    function = bare(given)
    if not isfunction(function):
        raise BadPush(f"{given!r} is neither a script by mount and name nor a declared function")
    known = lookup(function.__module__, function.__name__)
    if known is None or known.function is not function:
        load()
        known = lookup(function.__module__, function.__name__)
    path = f"{function.__module__}.{function.__qualname__}"
    if known is None or known.function is not function:
        raise BadPush(
            f"{path} is not declared: decorate a function at the top level of a module with "
            "queues.tasks.task, or add its module to ATRIBUTO_TASK_MODULES"
        )
    return checked(known)


def checked(known: Declared) -> Declared:
    """Return it if workers load its module, else raise BadPush."""
    if not may_declare(known.module):
        raise BadPush(
            f"{known.path} is declared where no worker looks: move it to `{DISCOVERED}` of an "
            f"installed app, or add {known.module} to ATRIBUTO_TASK_MODULES"
        )
    return known


def _missing(module: str, name: str) -> str:
    if module in _failures:
        return f"{module} could not be loaded: {_failures[module]}"
    if not may_declare(module):
        return f"{module} is not a module of declared functions; a mount starts with a slash"
    return f"{module} declares no function {name}"


def _load_with_parts(name: str) -> None:
    module = _imported(name)
    if module is None:
        return
    if name in listed():
        _declare_all(module)
    for part in _parts(module):
        _load_with_parts(part)


def _imported(name: str) -> ModuleType | None:
    """Import a module that was named in the code of this site; None when there is none."""
    try:
        if name not in listed() and name not in sys.modules and find_spec(name) is None:
            return None
        return importlib.import_module(name)
    except Exception as error:  # a module may raise anything when it is read
        _failures[name] = f"{type(error).__name__}: {error}"
        forget(name)
        log.error("tasks_not_loaded", module=name, error=_failures[name])
        return None


def _parts(module: ModuleType) -> Iterator[str]:
    places = getattr(module, "__path__", None)
    for each in pkgutil.iter_modules(places, f"{module.__name__}.") if places else ():
        yield each.name


def _declare_all(module: ModuleType) -> None:
    for name, value in list(vars(module).items()):
        own = isfunction(value) and value.__module__ == module.__name__
        if own and name == value.__name__ and not name.startswith("_") and not is_declared(value):
            _declare(value)


def _declare(function: Any) -> None:
    """Declare a function if that is possible: nobody has asked for this one by name."""
    try:
        declare(function)
    except ImproperlyConfigured as error:
        log.warning("function_not_declared", function=function.__name__, error=str(error))
