"""System checks: what is missing or wrong in the settings of a project, each with its fix."""

import sys
from importlib import import_module
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connection

NEEDED_APPS = {
    "django.contrib.auth": "who may do what",
    "django.contrib.contenttypes": "permissions",
    "django.contrib.messages": "what a button says it did",
    "django_htmx": "pages that follow what happens",
}
NEEDED_MIDDLEWARE = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
)


@register()
def check_project(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Look at the settings of a project that we are installed in."""
    if not settings.ATRIBUTO.is_hosted:
        return []
    return [
        *_settings(),
        *_apps(),
        *_middlewares(),
        *_time_zone(),
        *_redis(),
        *_sqlite(),
    ]


@register(Tags.database)
def check_tables(app_configs: Any, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """Ask the database, which Django does for `migrate` and `check --database default` only."""
    is_migrating = sys.argv[1:2] == ["migrate"]  # which is the fix
    if not settings.ATRIBUTO.is_hosted or is_migrating or "default" not in (databases or []):
        return []
    return _migrations()


@register(deploy=True)
def check_redis(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Ask Redis, for `check --deploy` only: without it everything starts, and works later."""
    if not settings.ATRIBUTO.is_hosted or settings.ATRIBUTO.redis_url == "embedded":
        return []
    from atributo_site.status.redis import redis_health

    health = redis_health()
    if health.state == "ok":
        return []
    hint = "Start it, or correct ATRIBUTO['REDIS_URL']; `manage.py doctor` asks it again."
    return [Warning(health.detail, hint=hint, id="atributo.W004")]


def _settings() -> list[CheckMessage]:
    refusals = apps.get_app_config("atributo_site").refusals  # type: ignore[attr-defined]
    hint = "Its default is used until ATRIBUTO or the environment has a value that fits."
    return [Error(each, hint=hint, id="atributo.E001") for each in refusals]


def _apps() -> list[CheckMessage]:
    return [
        Error(
            f"Atributo needs the app '{name}' ({purpose}).",
            hint=f"Add '{name}' to INSTALLED_APPS.",
            id="atributo.E004",
        )
        for name, purpose in NEEDED_APPS.items()
        if not apps.is_installed(name)
    ]


def _middlewares() -> list[CheckMessage]:
    """Ask for what log-in and messages need; our templates bring their context processors."""
    there = _classes(settings.MIDDLEWARE)
    return [
        Error(
            f"The console needs the middleware {name}.",
            hint="Add it to MIDDLEWARE, or a subclass of it.",
            id="atributo.E005",
        )
        for name in NEEDED_MIDDLEWARE
        if not any(issubclass(each, _class(name)) for each in there)
    ]


def _classes(names: Any) -> list[type]:
    found = [_class(name) for name in names]
    return [each for each in found if isinstance(each, type)]


def _class(name: str) -> Any:
    module, _, member = name.rpartition(".")
    return getattr(import_module(module), member)


def _time_zone() -> list[CheckMessage]:
    if settings.USE_TZ:
        return []
    hint = "Set USE_TZ = True: leases and schedules are moments, not wall-clock times."
    return [Error("Atributo needs USE_TZ.", hint=hint, id="atributo.E006")]


def _redis() -> list[CheckMessage]:
    if settings.ATRIBUTO.redis_url != "embedded":
        return []
    hint = "Set ATRIBUTO = {'REDIS_URL': 'redis://localhost:6379/0'}, or REDIS_URL or RQ_QUEUES."
    sentence = "No Redis is named. Jobs run, but workers notice new ones only when they look."
    return [Warning(sentence, hint=hint, id="atributo.W001")]


def _migrations() -> list[CheckMessage]:
    from atributo_site.status.migrations import NotMigrated, check_migrated

    try:
        check_migrated()
    except NotMigrated as error:
        hint = "Run `manage.py migrate`."
        return [Warning(f"Tables are missing: {error}", hint=hint, id="atributo.W002")]
    except DatabaseError:  # it says so itself
        return []
    return []


def _sqlite() -> list[CheckMessage]:
    mode = connection.settings_dict.get("OPTIONS", {}).get("transaction_mode")
    if connection.vendor != "sqlite" or mode == "IMMEDIATE":
        return []
    hint = (
        "Set DATABASES['default']['OPTIONS'] = {'transaction_mode': 'IMMEDIATE', 'timeout': 20}, "
        "or use PostgreSQL."
    )
    sentence = "SQLite refuses concurrent writers (database is locked) in its default mode."
    return [Warning(sentence, hint=hint, id="atributo.W003")]
