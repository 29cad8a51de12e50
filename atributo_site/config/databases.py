"""Turn DATABASE_URL into Django's DATABASES entry, with the options that each database needs."""

from pathlib import Path
from typing import Any

import environ

from atributo_site.config.environment import BadEnvironment, Environment

# Measured with 50 clients: without these, SQLite answers "database is locked".
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    # Fewer checkpoints: each of them writes back the pages of thousands of commits at once.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
    "PRAGMA wal_autocheckpoint=4000;",
}

# A connection that the network drops silently is noticed within a minute, not hours.
NOTICE_SILENCE = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


def configured(env: Environment, var_dir: Path) -> dict[str, Any]:
    if env.database_url == "sqlite:///":
        return _sqlite(str(var_dir / "atributo.sqlite3"))
    entry = dict(environ.Env.db_url_config(env.database_url))
    if entry["ENGINE"] == "django.db.backends.sqlite3":
        return _sqlite(entry["NAME"])
    if not entry["NAME"]:
        raise BadEnvironment("DATABASE_URL must name a database: postgresql://user@host/NAME.")
    return _postgresql(entry, env)


def _sqlite(name: str) -> dict[str, Any]:
    return {
        "ENGINE": "atributo_site.core.sqlite3",
        "NAME": name,
        "CONN_MAX_AGE": None,
        "OPTIONS": SQLITE_OPTIONS,
        "TEST": {"NAME": f"{name}.test"},
    }


def _postgresql(entry: dict[str, Any], env: Environment) -> dict[str, Any]:
    flags = {
        "statement_timeout": env.statement_timeout_ms,
        "lock_timeout": env.busy_timeout_ms,
        "idle_in_transaction_session_timeout": 30_000,
        "jit": "off",  # compiling one search of documents took seconds, running it milliseconds
    }
    given = dict(entry.get("OPTIONS", {}))
    words = [f"-c {name}={value}" for name, value in flags.items()] + [given.pop("options", "")]
    ours = {"options": " ".join(words).strip(), "connect_timeout": 5}
    options = {**ours, **NOTICE_SILENCE, **given}
    ways = {
        "ENGINE": "atributo_site.core.postgresql",
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
    }
    return {**entry, **ways, "OPTIONS": options}
