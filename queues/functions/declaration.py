"""The functions that were declared in this process. Nothing else is ever called by its name.

A row or a message names a module and a function; both are looked up here and never imported.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from inspect import getdoc, iscoroutinefunction, isfunction
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from queues.functions.parameters import parameters_of
from queues.functions.type_hints import schema_of
from queues.logic.manifest import MOST_THREADS
from queues.logic.mounts import LONGEST, is_module, title
from queues.logic.options import LONGEST_SCRIPT, PARSERS, BadOption, resolve
from queues.logic.schedules.declared import declared

ASYNC_JOBS = 100
NOT_AHEAD = {"delay", "delay_until"}
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Declared:
    """One function, with the options that each push of it has unless it says otherwise."""

    function: Callable[..., Any]
    takes_context: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    threads: int = 1  # jobs of it that one process runs at the same time
    record_start: bool = False
    schedules: dict[str, dict[str, Any]] = field(default_factory=dict)  # fields by name

    @property
    def module(self) -> str:
        return self.function.__module__

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def title(self) -> str:
        return title(self.name)[:255]

    @property
    def description(self) -> str:
        return (getdoc(self.function) or "").partition("\n\n")[0].replace("\n", " ")

    @cached_property
    def schema(self) -> dict[str, Any]:
        return schema_of(self.function, takes_context=self.takes_context)

    def stored_options(self) -> dict[str, Any]:
        """Return its options as JSON, for the row by which it is shown."""
        return {name: _as_json(value) for name, value in self.options.items()}


_declared: dict[tuple[str, str], Declared] = {}


def declare(
    function: Callable[..., Any],
    *,
    takes_context: bool = False,
    threads: int | None = None,
    record_start: bool = False,
    schedules: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Any,
) -> Declared:
    """Let a function at the top level of a module be pushed; say what is wrong if it cannot."""
    options = {name: value for name, value in options.items() if value is not None}
    _check(function, takes_context, options)
    _check_threads(function, threads, record_start)
    at_once = threads or (ASYNC_JOBS if iscoroutinefunction(function) and not record_start else 1)
    planned = _schedules(function, schedules or {})
    new = Declared(function, takes_context, options, at_once, record_start, planned)
    _declared[new.module, new.name] = new
    return new


def is_declared(function: Callable[..., Any]) -> bool:
    return any(each.function is function for each in _declared.values())


def lookup(module: str, name: str) -> Declared | None:
    return _declared.get((module, name))


def forget(module: str) -> None:
    """Take back what a module has declared, which was not read to its end."""
    for known in [each for each in all_declared() if each.module == module]:
        del _declared[known.module, known.name]


def all_declared() -> list[Declared]:
    return sorted(_declared.values(), key=lambda each: (each.module, each.name))


def bare(given: Any) -> Any:
    """Return the function behind what a decorator has made of it."""
    return getattr(given, "func", given)


def _check(function: Any, takes_context: bool, options: Mapping[str, Any]) -> None:
    if not isfunction(function):
        raise ImproperlyConfigured(f"{function!r} is not a function, so it cannot be declared")
    module, name = function.__module__, function.__name__
    if function.__qualname__ != name or not name.isidentifier():
        raise ImproperlyConfigured(
            f"{module}.{function.__qualname__} cannot be declared: it must stand at the top level "
            "of a module, because workers find it by its name"
        )
    if not is_module(module) or len(module) > LONGEST or len(name) > LONGEST_SCRIPT:
        raise ImproperlyConfigured(f"{module}.{name} cannot be declared: its name is too long")
    whole = f"{module}.{name}"
    try:
        taken = parameters_of(function, takes_context=takes_context)
        resolve(LONG_AGO, options)
    except (TypeError, BadOption) as error:
        raise ImproperlyConfigured(f"{whole} cannot be declared: {error}") from error
    if ahead := NOT_AHEAD & options.keys():
        raise ImproperlyConfigured(f"{whole}: {', '.join(sorted(ahead))} belongs to a push")
    if shared := sorted(each.name for each in taken if each.is_keyword_only and _is_option(each)):
        raise ImproperlyConfigured(
            f"{whole} cannot be declared: {', '.join(shared)} is an option of every push, so it "
            "cannot be a keyword-only argument"
        )


def _schedules(function: Any, given: Any) -> dict[str, dict[str, Any]]:
    """Return the schedules of a function as a manifest has them, or say what is wrong."""
    script, errors = function.__name__, list[str]()
    if isinstance(given, Mapping):
        given = {
            name: {**each, "script": script} if isinstance(each, Mapping) else each
            for name, each in given.items()
        }
    planned = declared(given, [script], errors)
    if errors:
        raise ImproperlyConfigured(f"{function.__module__}.{script}: {'; '.join(errors)}")
    return planned


def _is_option(parameter: Any) -> bool:
    return parameter.name in PARSERS or parameter.name in {"delay", "transaction"}


def _check_threads(function: Any, threads: Any, record_start: bool) -> None:
    whole = f"{function.__module__}.{function.__name__}"
    if threads is None:
        return
    if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
        raise ImproperlyConfigured(f"{whole}: threads must be a number from 1 to {MOST_THREADS}")
    if threads > 1 and record_start:
        raise ImproperlyConfigured(f"{whole}: threads and record_start exclude each other")


def _as_json(value: Any) -> Any:
    if isinstance(value, timedelta):
        return round(value / timedelta(milliseconds=1))
    if isinstance(value, datetime):
        return value.isoformat()
    function = bare(value)
    if isfunction(function):
        return {"mount": function.__module__, "name": function.__name__}
    return value
