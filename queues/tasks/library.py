"""Django's Tasks API: `django.tasks` where Django has it, else the package django-tasks."""

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from django.core.exceptions import ImproperlyConfigured

LIBRARIES = ("django.tasks", "django_tasks")


@cache
def installed() -> str | None:
    """Return the name of the package that has the API; None where neither is installed."""
    for name in LIBRARIES:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
        else:
            return name
    return None


def library() -> str:
    """Return the name of the package that has the API."""
    name = installed()
    if name is None:
        raise ImproperlyConfigured("the Tasks API needs Django 6, or the package django-tasks")
    return name


def part(name: str) -> ModuleType:
    """Return a module of the API."""
    return import_module(f"{library()}.{name}")


def invalid(reason: str) -> Exception:
    """Return the error that the API has for a task that a backend refuses."""
    errors = part("exceptions")
    kind: Any = getattr(errors, "InvalidTask", None) or errors.InvalidTaskError
    return kind(reason)
