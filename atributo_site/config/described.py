"""Describe the settings without their secrets, and the versions of what runs here."""

import os
import platform
from typing import Any

import django
from django.conf import settings
from django.db import connection

from atributo_site import __version__
from atributo_site.config.env_file import with_env_file
from atributo_site.config.environment import Environment
from atributo_site.config.hosted import OF_THE_PROJECT
from atributo_site.config.places import env_file
from atributo_site.config.variables import Variable, variables_of

HIDDEN = "•••"
UNKNOWN = "unknown"


def described_settings() -> list[dict[str, Any]]:
    """Return every setting with its value and its source; secrets stay hidden."""
    from_file = with_env_file({}, env_file())
    return [
        {
            "attribute": attribute,
            "name": variable.name,
            "sentence": variable.sentence,
            "default": variable.default,
            "value": _value(attribute, variable, source := _source(attribute, variable, from_file)),
            "source": source,
        }
        for attribute, variable in variables_of(Environment).items()
    ]


def _source(attribute: str, variable: Variable, from_file: dict[str, str]) -> str:
    if settings.ATRIBUTO.is_hosted:
        return _source_in_project(attribute, variable)
    if os.environ.get(variable.name):
        return "environment"
    return ".env" if from_file.get(variable.name) else "default"


def _source_in_project(attribute: str, variable: Variable) -> str:
    value = getattr(settings.ATRIBUTO, attribute)
    if value == variable.parse(variable.default):
        return "default"
    is_named = os.environ.get(variable.name) and variable.name not in OF_THE_PROJECT
    return "environment" if is_named else "project"


def _value(attribute: str, variable: Variable, source: str) -> str:
    if variable.secret and source != "default":
        return HIDDEN
    value = getattr(settings.ATRIBUTO, attribute)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def versions(has_database: bool, redis_version: str) -> dict[str, str]:
    """Return name → version; a server that does not answer has the version "unknown"."""
    return {
        "Atributo": __version__,
        "Python": platform.python_version(),
        "Django": django.get_version(),
        **_database_version(has_database),
        "Redis": redis_version or UNKNOWN,
    }


def _database_version(has_database: bool) -> dict[str, str]:
    if connection.vendor == "sqlite":
        return {"SQLite": connection.Database.sqlite_version}  # type: ignore[attr-defined]
    if not has_database:
        return {"PostgreSQL": UNKNOWN}
    connection.ensure_connection()
    version = connection.connection.info.parameter_status("server_version")  # sends no query
    return {"PostgreSQL": version or UNKNOWN}
