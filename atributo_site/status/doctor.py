"""Examine an installation: each finding says what is wrong, how grave it is and how to mend it."""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection

from allocation.snapshot import id_numbers
from atributo_site.config.described import versions
from atributo_site.config.env_file import source_of
from atributo_site.core.models.clock import database_now
from atributo_site.core.postgresql import pending_indexes
from atributo_site.status.machine import (
    ENV_FILE,
    MEGABYTE,
    clock_skew_seconds,
    free_bytes,
    unknown_settings,
)
from atributo_site.status.redis import RedisHealth, redis_health
from atributo_site.status.snapshot import present
from atributo_site.status.symptoms import MOST_AHEAD_SECONDS
from atributo_site.supervisor.startup import pending_migrations
from atributo_site.web.format import roughly

LARGEST_SKEW_SECONDS = 1.0
OLDEST_REDIS = (6, 2)
SQLITE_EXPECTED = {"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1"}
POSTGRESQL_EXPECTED = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]


@dataclass(frozen=True)
class Finding:
    name: str
    level: str  # ok, warning, error
    sentence: str
    fix: str = ""

    @property
    def is_fixed_by_command(self) -> bool:
        return self.fix.startswith("manage.py ")


def examine() -> list[Finding]:
    """Examine everything; without a database the rest would only repeat that."""
    database = _database()
    findings = [*_configuration(), _disk(), database]
    if database.level == "ok":
        findings += [*_database_options(), _clock(), _migrations()]
    if findings[-1].level == "error":
        health = redis_health()
        return [_versions(database, health), *findings, _redis(health)]
    now = database_now()
    state = present(now)
    health = RedisHealth(**state["redis"])
    seen = [_redis(health), _job_ids(id_numbers(now)), *_processes(state)]
    return [_versions(database, health), *findings, *seen]


def _versions(database: Finding, health: RedisHealth) -> Finding:
    numbers = versions(database.level == "ok", health.version).items()
    return Finding("versions", "ok", ", ".join(f"{name} {number}" for name, number in numbers))


def _configuration() -> list[Finding]:
    findings = [
        Finding("configuration", "error" if message.is_serious() else "warning", message.msg)
        for message in checks.run_checks(
            include_deployment_checks=settings.ATRIBUTO.mode == "production"
        )
    ]
    if settings.ATRIBUTO.is_hosted:  # web server, static files and variables are the project's
        words = f"in a project; Redis {'is named' if _has_redis() else 'is not named'}"
        return findings or [Finding("configuration", "ok", words)]
    findings += _unknown_variables() + _plain_http() + _static_files()
    where = [source_of(name, os.environ, ENV_FILE) for name in ("DATABASE_URL", "REDIS_URL")]
    sentence = f"mode {settings.ATRIBUTO.mode}; database by {where[0]}, Redis by {where[1]}"
    return findings or [Finding("configuration", "ok", sentence)]


def _has_redis() -> bool:
    return settings.ATRIBUTO.redis_url != "embedded"


def _unknown_variables() -> list[Finding]:
    """Report mistyped names, which would otherwise silently change nothing."""
    fix = ".env.example lists them all"
    return [
        Finding("configuration", "warning", f"{name} is not a setting", fix)
        for name in unknown_settings()
    ]


def _plain_http() -> list[Finding]:
    if settings.ATRIBUTO.mode != "production" or settings.ATRIBUTO.behind_proxy:
        return []
    sentence = "pages require https, but the web server speaks http"
    fix = "put a TLS proxy in front and set ATRIBUTO_BEHIND_PROXY=yes"
    return [Finding("configuration", "warning", sentence, fix)]


def _static_files() -> list[Finding]:
    if settings.ATRIBUTO.mode == "test" or (settings.STATIC_ROOT / "staticfiles.json").exists():
        return []
    sentence = "the static files are not collected, and no page can be shown without them"
    fix = "manage.py collectstatic --noinput"
    return [Finding("configuration", "warning", sentence, fix)]


def _disk() -> Finding:
    folder = Path(settings.ATRIBUTO.var_dir).absolute()  # a project need not have it
    free = free_bytes() // MEGABYTE
    sentence = f"{free:,} MB are free in {folder}"
    if free >= settings.ATRIBUTO.least_free_mb:
        return Finding("disk", "ok", sentence)
    fix = "make room there, or keep jobs, events and versions for fewer days"
    return Finding("disk", "error", sentence, fix)


def _database() -> Finding:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        fix = "start it, or correct DATABASE_URL"
        return Finding("database", "error", f"cannot connect: {type(error).__name__}", fix)
    return Finding("database", "ok", f"{connection.vendor} answers")


def _database_options() -> list[Finding]:
    """Read back what the server really uses, not what the settings ask for."""
    names: Callable[[], list[tuple[str, str, bool]]]
    names = _pragmas if connection.vendor == "sqlite" else _timeouts
    is_hosted = settings.ATRIBUTO.is_hosted
    bad = "warning" if is_hosted else "error"  # a project chooses them
    fix = "docs/django.md has the options" if is_hosted else "remove OPTIONS from DATABASE_URL"
    return [
        Finding(f"database {name}", "ok", value)
        if good
        else Finding(f"database {name}", bad, value, fix)
        for name, value, good in names()
    ]


def _pragmas() -> list[tuple[str, str, bool]]:
    options = []
    with connection.cursor() as cursor:
        for name, expected in SQLITE_EXPECTED.items():
            cursor.execute(f"PRAGMA {name}")
            value = str(cursor.fetchone()[0])
            options.append((name, value, value == expected))
    return options


def _timeouts() -> list[tuple[str, str, bool]]:
    options = []
    with connection.cursor() as cursor:
        for name in POSTGRESQL_EXPECTED:
            cursor.execute("SELECT current_setting(%s)", [name])
            value = cursor.fetchone()[0]
            options.append((name, value, value != "0"))
    return options


def _migrations() -> Finding:
    pending = pending_migrations()
    if pending:
        return Finding("migrations", "error", f"{len(pending)} pending", "manage.py migrate")
    unbuilt = pending_indexes.pending(connection)
    if unbuilt:
        sentence = f"all applied, but {len(unbuilt)} indexes are not built: {', '.join(unbuilt)}"
        return Finding("migrations", "warning", sentence, "manage.py migrate")
    return Finding("migrations", "ok", "all applied")


def _clock() -> Finding:
    skew = abs(clock_skew_seconds())
    sentence = f"{socket.gethostname()} and the database differ by {skew * 1000:.0f}ms"
    if skew > LARGEST_SKEW_SECONDS:
        return Finding("clock", "warning", sentence, "run a time service (NTP) on both")
    return Finding("clock", "ok", sentence)


def _job_ids(numbers: dict[str, float]) -> Finding:
    """Compare the clock with the stored marks of job ids: one that went back shows there."""
    seconds = numbers["id_numbers_ahead_seconds"]
    sentence = f"{roughly(seconds)} ahead of the clock" if seconds else "not ahead of the clock"
    if seconds > MOST_AHEAD_SECONDS:
        fix = "run a time service (NTP); ids continue from there until the clock catches up"
        return Finding("job ids", "warning", sentence, fix)
    return Finding("job ids", "ok", sentence)


def _redis(health: RedisHealth) -> Finding:
    if health.state != "ok":
        fix = "" if health.version else "start it, or correct REDIS_URL"  # else the detail names it
        return Finding("redis", "warning", health.detail, fix)
    if _version(health.version) < OLDEST_REDIS:
        return Finding("redis", "error", health.detail, "install Redis 6.2 or Valkey")
    return Finding("redis", "ok", f"{health.detail[:-1]}, policy {health.policy}")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


def _processes(state: dict[str, Any]) -> list[Finding]:
    running = sum(p["kind"] == "worker" and p["state"] == "running" for p in state["processes"])
    active = state["curator"]["active"]
    return [
        Finding("workers", "ok", f"{running} running")
        if running
        else Finding("workers", "warning", "none runs", "manage.py worker"),
        Finding("curator", "ok", f"{active} is active")
        if active
        else Finding("curator", "warning", "none is active", "manage.py run_curator"),
    ]
