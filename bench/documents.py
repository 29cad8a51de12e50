"""Measure transactions, searches and a curator's sweep, on SQLite and PostgreSQL.

Transactions of five puts run beside plain upserts and beside a straightforward transaction.

BENCH_ROUNDS and BENCH_COUNT make it longer. BENCH_FINISHED=1000000 is the number of finished
transactions that the sweep must not read, BENCH_DOCUMENTS=100000 that of documents to search.
The PostgreSQL is a private one that syncs every commit to disk.
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
        print("SQLite")
        ended = measure(f"sqlite:///{folder}/documents.sqlite3", folder)
        server.SETTINGS.update(DURABLE)
        with server.PostgresCluster() as cluster:
            print("\nPostgreSQL")
            return max(ended, measure(cluster.create_database("documents"), folder))


def measure(database_url: str, folder: str) -> int:
    settings = {
        "ATRIBUTO_ENV": "local",
        "ATRIBUTO_VAR_DIR": folder,
        "ATRIBUTO_LOG_LEVEL": "WARNING",
        "DATABASE_URL": database_url,
        "REDIS_URL": "unix:///nowhere",
    }
    environment = {**os.environ, **settings}
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
    command = [sys.executable, "-m", "bench.parts.documents"]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
