"""Every screen on a full database, on SQLite and PostgreSQL; and beside 300 open live pages.

1,000,000 jobs, 1,000,000 allocations, 10,000 instances (BENCH_ROWS makes it smaller or larger).
Goal: the first byte of every screen within 300 ms, with as many queries as on a small database;
plain pages beside 300 streams on one web process within 200 ms p95. BENCH_DATABASES=sqlite
measures one of the two.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.servers import postgres
from tests.servers.ports import free_port
from tests.servers.valkey import ValkeyServer

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, ValkeyServer() as valkey:
        return max(on(folder, valkey.url) for on in wanted())


def wanted() -> list[Callable[[str, str], int]]:
    names = os.environ.get("BENCH_DATABASES", "sqlite,postgresql").split(",")
    return [{"sqlite": on_sqlite, "postgresql": on_postgresql}[name] for name in names]


def on_sqlite(folder: str, redis_url: str) -> int:
    print("SQLite")
    return measure(f"sqlite:///{folder}/screens.sqlite3", folder, redis_url)


def on_postgresql(folder: str, redis_url: str) -> int:
    print("PostgreSQL")
    postgres.SETTINGS.update({"shared_buffers": "512MB", "max_wal_size": "4GB"})
    with postgres.PostgresCluster() as cluster:
        return measure(cluster.create_database("screens"), folder, redis_url)


def measure(database_url: str, folder: str, redis_url: str) -> int:
    settings = {
        "ATRIBUTO_ENV": "local",
        "ATRIBUTO_VAR_DIR": folder,
        "ATRIBUTO_LOG_LEVEL": "ERROR",
        "ATRIBUTO_PORT": str(free_port()),
        "ATRIBUTO_STREAMS_PER_USER": "400",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
    }
    environment = {**os.environ, **settings}
    for arguments in (["migrate"], ["collectstatic", "--no-input"]):
        command = [sys.executable, "manage.py", *arguments, "--verbosity", "0"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    command = [sys.executable, "-m", "bench._screens"]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
