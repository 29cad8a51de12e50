"""Measure what `manage.py verify` costs on full tables, on PostgreSQL and SQLite.

    python -m bench.verify sqlite       one database
    BENCH_ROWS=200000                   larger tables

It fills documents, versions, journals, transactions, jobs, runs and allocations, and looks at all
rows, then at a sample. It fails when the whole look manages fewer than 5,000 rows per second, when
a sample takes more than five seconds, or when memory grows by more than 100 MB.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.allocation import environment
from tests.servers.postgres.server import PostgresCluster

ROOT = Path(__file__).resolve().parent.parent


def main(wanted: list[str]) -> int:
    ended = []
    with tempfile.TemporaryDirectory() as folder:
        if "sqlite" in (wanted or ["sqlite"]):
            ended.append(measure(f"sqlite:///{folder}/ours.sqlite3", folder))
        if "postgresql" in (wanted or ["postgresql"]):
            with PostgresCluster() as cluster:
                ended.append(measure(cluster.create_database("ours"), folder))
    return max(ended)


def measure(database_url: str, folder: str) -> int:
    settings = {**environment(database_url, folder), "ATRIBUTO_LOG_LEVEL": "ERROR"}
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=settings, check=True)
    command = [sys.executable, "-m", "bench.parts.verify"]
    return subprocess.run(command, cwd=ROOT, env=settings).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
