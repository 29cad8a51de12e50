"""Measure allocation beside the original's sequence of statements, on PostgreSQL and SQLite.

BENCH_ROWS=10000000 measures the growth up to ten million rows, BENCH_ONLY=growth nothing else;
BENCH_ROUNDS and BENCH_SECONDS make it longer and steadier. The PostgreSQL is a private one that
syncs every commit to disk. Both start from freshly made, empty tables; conflicts are printed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.servers.postgres import server

ROOT = Path(__file__).resolve().parent.parent
DURABLE = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "256MB"}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        print("SQLite", end="")
        ended = measure(f"sqlite:///{folder}/ours.sqlite3", f"{folder}/seed.sqlite3", folder)
        server.SETTINGS.update(DURABLE)
        with server.PostgresCluster() as cluster:
            print("\nPostgreSQL", end="")
            ours, seed = (cluster.create_database(name) for name in ("ours", "seed"))
            return max(ended, measure(ours, seed, folder))


def measure(database_url: str, seed_database: str, folder: str) -> int:
    settings = environment(database_url, folder)
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=settings, check=True)
    command = [sys.executable, "-m", "bench.parts.allocation", seed_database]
    return subprocess.run(command, cwd=ROOT, env=settings).returncode


def environment(database_url: str, folder: str) -> dict[str, str]:
    return {
        **os.environ,
        "ATRIBUTO_ENV": "test",
        "ATRIBUTO_VAR_DIR": folder,
        "ATRIBUTO_LOG_LEVEL": "WARNING",
        "DATABASE_URL": database_url,
        "REDIS_URL": "unix:///nowhere",
    }


if __name__ == "__main__":
    sys.exit(main())
