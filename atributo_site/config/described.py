"""The settings as people see them: each with its value and its source, without secrets.

What runs here, as a report of a bug needs it.
"""

import os
import platform
import tomllib
from functools import cache
from typing import Any

import django
from django.conf import settings
from django.db import connection

from atributo_site.config.env_file import with_env_file
from atributo_site.config.environment import BASE_DIR, Environment
from atributo_site.config.variables import Variable, variables_of

HIDDEN = "•••"


def described_settings() -> list[dict[str, Any]]:
    """Every setting with its value and where that comes from; secrets stay hidden."""
    from_file = with_env_file({}, BASE_DIR / ".env")
    return [
        {
            "name": variable.name,
            "sentence": variable.sentence,
            "default": variable.default,
            "value": _value(attribute, variable, source := _source(variable, from_file)),
            "source": source,
        }
        for attribute, variable in variables_of(Environment).items()
    ]


def _source(variable: Variable, from_file: dict[str, str]) -> str:
    if os.environ.get(variable.name):
        return "environment"
    return ".env" if from_file.get(variable.name) else "default"


def _value(attribute: str, variable: Variable, source: str) -> str:
    if variable.secret and source != "default":
        return HIDDEN
    value = getattr(settings.ATRIBUTO, attribute)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


UNKNOWN = "unknown"


def versions(has_database: bool, redis_version: str) -> dict[str, str]:
    """Name → version; a server that does not answer is unknown."""
    return {
        "Atributo": atributo_version(),
        "Python": platform.python_version(),
        "Django": django.get_version(),
        **_database_version(has_database),
        "Redis": redis_version or UNKNOWN,
    }


@cache
def atributo_version() -> str:
    """Where the project keeps it: it runs from its folder and is never installed."""
    try:
        project = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())
    except OSError:
        return UNKNOWN
    return str(project["project"]["version"])


def _database_version(has_database: bool) -> dict[str, str]:
    if connection.vendor == "sqlite":
        return {"SQLite": connection.Database.sqlite_version}  # type: ignore[attr-defined]
    if not has_database:
        return {"PostgreSQL": UNKNOWN}
    connection.ensure_connection()
    version = connection.connection.info.parameter_status("server_version")  # without a query
    return {"PostgreSQL": version or UNKNOWN}
