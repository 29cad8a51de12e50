"""Measure a forced drain beside allocation, on PostgreSQL and SQLite.

    python -m bench.drains sqlite       one database
    BENCH_JOBS=10000                    a quick look

A real curator moves 100,000 job ids off an instance and then spreads them over eight new ones;
three of those are removed. Another process makes 100 allocations per second meanwhile. It fails
when one of the three takes more than 30 seconds of processor time, or when an allocation beside it
takes longer than a quarter of a second at the 99th percentile.
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
    command = [sys.executable, "-m", "bench.parts.drains"]
    return subprocess.run(command, cwd=ROOT, env=settings).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
