"""What runs here, as a report of a bug needs it."""

import platform
import tomllib
from functools import cache

import django
from django.db import connection

from atributo_site.environment import BASE_DIR

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
    said = connection.connection.info.parameter_status("server_version")  # without a query
    return {"PostgreSQL": said or UNKNOWN}
